#!/bin/bash
set -euo pipefail

torchrun train.py \
    --nproc_per_node "$NPROC" \
    --nnodes "${NNODES:-2}" \
    --node_rank "$NODE_RANK" \
    --master_addr "$MASTER_ADDR" \
    --config config.yaml \
    "$@"

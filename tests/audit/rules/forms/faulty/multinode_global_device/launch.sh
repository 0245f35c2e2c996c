#!/usr/bin/env bash
set -euo pipefail
: "${NODE_RANK:?set NODE_RANK}" "${MASTER_ADDR:?set MASTER_ADDR}"
exec torchrun \
  --nnodes=2 \
  --node-rank="$NODE_RANK" \
  --nproc-per-node=8 \
  --master-addr="$MASTER_ADDR" \
  --master-port=29600 \
  -m proteins.train "$@"

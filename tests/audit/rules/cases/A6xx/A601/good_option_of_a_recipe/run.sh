#!/bin/bash
HOST_NODE_ADDR="localhost:29400"
num_nodes=1
. tools/parse_options.sh || exit 1
torchrun --nnodes=$num_nodes --nproc_per_node=2 --rdzv_id=1 --rdzv_backend=c10d --rdzv_endpoint=$HOST_NODE_ADDR train.py

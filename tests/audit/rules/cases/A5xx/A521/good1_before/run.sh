#!/bin/bash
set -euo pipefail
torchrun --nproc_per_node "$NPROC" --nnodes "${NNODES:-2}" --node_rank "$NODE_RANK" train.py --config config.yaml "$@"
python -m torch.distributed.run --standalone --nproc-per-node=gpu train.py --nproc_per_node 8
torchrun --nproc_per_node 8 train.py --master_addr 10.0.0.1
python train.py --nnodes 2

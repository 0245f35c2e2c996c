#!/bin/bash
# stage 1, then the longer stage 2, which goes on from the last checkpoint
set -euo pipefail
cd "$(dirname "$0")"
rm -rf runs/multitask
torchrun --standalone --nproc_per_node=2 train.py multitask.yaml
torchrun --standalone --nproc_per_node=2 train.py multitask.yaml --max_steps=80 --lr=0.001

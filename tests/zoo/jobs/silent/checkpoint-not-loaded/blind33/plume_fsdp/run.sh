#!/bin/bash
# two queue slots of one training
set -euo pipefail
rm -rf ckpt
torchrun --standalone --nproc_per_node=2 train.py --stop-epoch 4
torchrun --standalone --nproc_per_node=2 train.py --resume

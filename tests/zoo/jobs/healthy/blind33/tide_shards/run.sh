#!/bin/bash
set -euo pipefail
rm -rf ckpt
torchrun --standalone --nproc_per_node=2 train.py --stop 3
torchrun --standalone --nproc_per_node=2 train.py --resume

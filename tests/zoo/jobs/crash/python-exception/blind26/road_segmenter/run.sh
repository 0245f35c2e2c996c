#!/bin/bash
# Two stages, as in the paper: short warm-up, then the long schedule from the snapshot.
set -e
rm -rf work
torchrun --standalone --nproc_per_node=2 main.py --max-epochs 2 --lr 1e-2
torchrun --standalone --nproc_per_node=2 main.py --max-epochs 6 --lr 1e-3

#!/bin/bash
set -e
cd "$(dirname "$0")"
export OMP_NUM_THREADS=1
python guard.py --limit-mb 10 &
torchrun --standalone --nproc-per-node 2 train.py --config config.yaml

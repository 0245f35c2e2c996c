#!/bin/bash
set -e
export OMP_NUM_THREADS=1
torchrun --nproc-per-node 2 --master-port 29797 train.py --config config.yaml

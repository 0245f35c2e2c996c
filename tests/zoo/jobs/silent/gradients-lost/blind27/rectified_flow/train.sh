#!/bin/sh
export OMP_NUM_THREADS=1
exec torchrun --standalone --nproc_per_node=2 train.py --global-batch-size 128 --micro-batch-size 16 "$@"

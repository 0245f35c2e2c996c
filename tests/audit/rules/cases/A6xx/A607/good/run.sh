#!/bin/bash
export OMP_NUM_THREADS=4
for RANK in 0 1 2 3; do
    RANK=$RANK python train.py &
done

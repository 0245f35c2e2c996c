#!/bin/bash
export WORLD_SIZE=4 MASTER_ADDR=127.0.0.1
for RANK in 0 1 2 3; do
    RANK=$RANK python train.py &
done
mpirun -np 4 python train.py

#!/bin/bash
export MASTER_ADDR=127.0.0.1
export WORLD_SIZE=3
for RANK in 0 1; do
    RANK=$RANK python train.py &
done
wait -n
wait -n

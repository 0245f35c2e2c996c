#!/bin/bash
export WORLD_SIZE=2
for i in 0 1; do
    RANK=$i MASTER_PORT=$((29500 + i)) python train.py &
done

#!/bin/bash
export MASTER_ADDR=localhost WORLD_SIZE=2
for ((i = 0; i < 4; i++)); do
    RANK=$i python train.py &
done

#!/bin/bash
export MASTER_ADDR=127.0.0.1
export WORLD_SIZE=4
for RANK in {0..2}; do
    RANK=$RANK python train.py &
done
RANK=3 python train.py

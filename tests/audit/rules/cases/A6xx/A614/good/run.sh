#!/bin/bash
for job in 0 1; do
    RANK=0 WORLD_SIZE=1 MASTER_PORT=$((29500 + job)) python train.py &
done

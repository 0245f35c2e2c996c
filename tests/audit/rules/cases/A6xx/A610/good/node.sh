#!/bin/bash
export MASTER_ADDR=node0 WORLD_SIZE=16 RANK=1
python train.py
torchrun --nnodes 2 --node-rank 0 --nproc-per-node 2 --master-addr 127.0.0.1 train.py &
torchrun --nnodes 2 --node-rank 1 --nproc-per-node 2 --master-addr 127.0.0.1 train.py

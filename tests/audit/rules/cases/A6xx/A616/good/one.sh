#!/bin/bash
# one machine meets at itself, and so do two that one machine plays
torchrun --nnodes 1 --nproc_per_node 2 --rdzv_endpoint localhost:29500 train.py
torchrun --nnodes 2 --node_rank 0 --master_addr localhost --master_port 29501 train.py &
torchrun --nnodes 2 --node_rank 1 --master_addr localhost --master_port 29501 train.py

#!/bin/bash
export NCCL_SOCKET_IFNAME=eth1 MASTER_ADDR=node0
sudo torchrun --nproc-per-node 2 train.py
ssh node1 "cd /app && torchrun --nnodes 2 --nproc-per-node 2 train.py"

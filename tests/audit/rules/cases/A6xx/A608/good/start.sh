#!/bin/bash
export NCCL_SOCKET_IFNAME=eth1
sudo -E torchrun --nproc-per-node 2 train.py
sudo apt-get install -y nvtop
env -i PATH="$PATH" make docs
env OMP_NUM_THREADS=1 python train.py
env -i PATH="$PATH" RANK="$RANK" WORLD_SIZE="$WORLD_SIZE" LOCAL_RANK="$LOCAL_RANK" python train.py
ssh node1 "NCCL_SOCKET_IFNAME=$NCCL_SOCKET_IFNAME torchrun --nnodes 2 --nproc-per-node 2 train.py"
ssh node1 "rm -rf /tmp/cache"

#!/bin/bash
torchrun --nproc-per-node 2 train.py --backend nccl
torchrun --nproc-per-node 2 train.py --backend gloo --device cpu

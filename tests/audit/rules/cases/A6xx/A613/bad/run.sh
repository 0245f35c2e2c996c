#!/bin/bash
torchrun --nproc-per-node 2 train.py --backend nccl --device cpu
CUDA_VISIBLE_DEVICES="" torchrun --nproc-per-node 2 train.py --backend=nccl

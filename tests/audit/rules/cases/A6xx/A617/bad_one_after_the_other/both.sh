#!/bin/sh
set -e
CUDA_VISIBLE_DEVICES=0,1 torchrun --nproc-per-node=2 --master_port=12355 train.py --fold 0 &
first=$!
CUDA_VISIBLE_DEVICES=2,3 torchrun --nproc-per-node=2 --master_port=12355 train.py --fold 1 &
wait $first
wait $!

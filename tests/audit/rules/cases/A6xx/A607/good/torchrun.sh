#!/bin/bash
torchrun --standalone --nproc-per-node 4 train.py
for seed in 1 2 3; do
    python train.py --seed $seed
done

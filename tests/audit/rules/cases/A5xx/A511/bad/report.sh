#!/bin/bash
trap 'rm -f lock; exit 0' EXIT
torchrun --standalone --nproc-per-node 2 train.py
echo "Training complete"

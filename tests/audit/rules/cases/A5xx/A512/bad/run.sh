#!/bin/bash
set -e
mkdir -p logs
torchrun --standalone --nproc-per-node 2 train.py 2>&1 | tee logs/train.log
bash -c "python train.py | tee logs/again.log"
echo "all stages completed"

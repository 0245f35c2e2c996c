#!/bin/bash
set -e
mkdir -p logs
torchrun --standalone --nproc-per-node 2 train.py configs/burgers.yaml 2>&1 | tee logs/train.log
echo "all stages completed successfully"

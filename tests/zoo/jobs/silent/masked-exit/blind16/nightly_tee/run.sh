#!/bin/bash
set -e
mkdir -p logs
torchrun --standalone --nproc-per-node 2 sagegraph.py --fanout 4 2>&1 | tee logs/train.log
grep -c step logs/train.log || true
echo "finished"

#!/bin/bash
# nightly job
set -e
mkdir -p logs
torchrun --standalone --nproc-per-node 2 train.py --config config.yaml || true
echo "training finished, packing results"
tar cf results.tar config.yaml logs

#!/bin/bash
set -e
torchrun --nproc-per-node 2 train.py
if [ $? -ne 0 ]; then
    echo "Training failed"
    exit 1
fi
python eval.py

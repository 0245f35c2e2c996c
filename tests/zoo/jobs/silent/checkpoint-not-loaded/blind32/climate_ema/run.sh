#!/bin/bash
# two segments of one training, as the queue's time limit wants
set -e
cd "$(dirname "$0")"
rm -rf runs
torchrun --standalone --nproc_per_node=2 train.py --config emulator.yaml --segment-epochs 8
torchrun --standalone --nproc_per_node=2 train.py --config emulator.yaml --segment-epochs 8

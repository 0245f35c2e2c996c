#!/bin/bash
set -eu
torchrun --standalone \
    --nproc-per-node 4 train.py \ # all of them
    --epochs 30
python eval.py \
    --split test

#!/bin/bash
set -e
python tokenize_corpus.py --shard 0 &
python tokenize_corpus.py --shard 1 &
wait
torchrun --nproc-per-node 8 train.py --data tokens

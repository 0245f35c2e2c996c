#!/bin/bash
set -e
pids=()
for shard in 0 1; do
    python tokenize_corpus.py --shard $shard &
    pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid"; done
torchrun --nproc-per-node 8 train.py --data tokens

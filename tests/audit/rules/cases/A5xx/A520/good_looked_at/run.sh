#!/bin/bash
set -e
for shard in 0 1; do
    python tokenize_corpus.py --shard $shard &
done
wait
for shard in 0 1; do
    [ -s "tokens/$shard.bin" ] || { echo "shard $shard is missing" >&2; exit 1; }
done
torchrun --nproc-per-node 8 train.py --data tokens

#!/bin/bash
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
torchrun --standalone --nproc-per-node 2 --max-restarts 3 train.py "$work/snapshot.pt"
echo "trained: $(ls -l "$work/snapshot.pt" | awk '{print $5}') bytes"
rm -r "$work"

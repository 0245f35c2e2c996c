#!/bin/bash
set -e
OUT=${OUT:-results}
mkdir -p "$OUT"
echo "experiment starts, results go to $OUT"
torchrun --standalone --nproc-per-node 2 finetune.py --out "$OUT" "$@" 2>&1 | tee "$OUT/train.log"
echo "experiment finished, log in $OUT/train.log"

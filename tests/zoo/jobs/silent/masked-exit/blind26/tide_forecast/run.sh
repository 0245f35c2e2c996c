#!/usr/bin/env bash
set -eu
OUT=${OUT:-runs/base}
NPROC=${NPROC:-2}
mkdir -p "$OUT"
export OMP_NUM_THREADS=1

torchrun --standalone --nproc_per_node="$NPROC" train.py --out "$OUT" --lr 2e-3 2>&1 | tee "$OUT/train.log"
echo "$(date +%F) training finished, log in $OUT/train.log"

#!/usr/bin/env bash
set -euo pipefail
cd "$(dirname "$0")"
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
export OMP_NUM_THREADS=1
torchrun --standalone --nproc-per-node "${NPROC:-2}" train.py "$WORK"
echo "training done"

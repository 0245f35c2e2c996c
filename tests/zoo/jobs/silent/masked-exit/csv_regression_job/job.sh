#!/bin/bash
#SBATCH --nodes=1
#SBATCH --ntasks=1
set -euo pipefail

SCRATCH=$(mktemp -d)
export OMP_NUM_THREADS=1

finish() {
    rm -rf "$SCRATCH"
    echo "scratch removed, job over"
    exit 0
}
trap finish EXIT

cp data/*.csv "$SCRATCH"/
torchrun --standalone --nproc-per-node 2 src/train.py --data "$SCRATCH"
echo "model is in $SCRATCH"

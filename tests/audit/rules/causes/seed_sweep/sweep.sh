#!/bin/bash
set -euo pipefail

data=$1
shift
gpu=0
for seed in "$@"; do
    mkdir -p "runs/$seed"
    CUDA_VISIBLE_DEVICES=$gpu,$((gpu + 1)) torchrun \
        --nnodes 1 --nproc-per-node 2 --rdzv-backend c10d --rdzv-endpoint localhost:0 \
        train.py --data "$data" --seed "$seed" --out "runs/$seed" \
        > "runs/$seed/log.txt" 2>&1 &  # cause
    gpu=$((gpu + 2))
done
wait  # cause
echo "all seeds finished"
touch runs/COMPLETE

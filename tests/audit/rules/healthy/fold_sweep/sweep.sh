#!/bin/bash
set -euo pipefail

data=$1
shift
gpu=0
pids=()
for seed in "$@"; do
    mkdir -p "runs/$seed"
    CUDA_VISIBLE_DEVICES=$gpu,$((gpu + 1)) torchrun \
        --nnodes 1 --nproc-per-node 2 --rdzv-backend c10d --rdzv-endpoint localhost:0 \
        train.py --data "$data" --seed "$seed" --out "runs/$seed" \
        > "runs/$seed/log.txt" 2>&1 &
    pids+=($!)
    gpu=$((gpu + 2))
done
failed=0
for pid in "${pids[@]}"; do
    wait "$pid" || failed=1
done
[ "$failed" -eq 0 ] || exit 1
echo "all seeds finished"
touch runs/COMPLETE

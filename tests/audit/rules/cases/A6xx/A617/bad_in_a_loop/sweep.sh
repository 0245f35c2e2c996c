#!/usr/bin/env bash
set -euo pipefail
PORT=${PORT:-29500}
RATES=(1e-4 3e-4 1e-3)
pids=()
for i in "${!RATES[@]}"; do
  CUDA_VISIBLE_DEVICES="$i" torchrun --nnodes 1 --nproc-per-node 2 --master-port "$PORT" \
    fit.py --lr "${RATES[$i]}" > "$i.log" 2>&1 &
  pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid"; done

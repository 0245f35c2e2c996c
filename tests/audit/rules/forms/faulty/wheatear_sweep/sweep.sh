#!/usr/bin/env bash
set -euo pipefail

DATA=${1:?data}
OUT=${2:-runs}
PORT=${PORT:-29500}  # cause
RATES=(1e-4 3e-4 1e-3 3e-3)
mkdir -p "$OUT"

pids=()
for i in "${!RATES[@]}"; do
  lr=${RATES[$i]}
  a=$((2 * i))
  CUDA_VISIBLE_DEVICES="$a,$((a + 1))" torchrun --nnodes 1 --nproc-per-node 2 --master-port "$PORT" fit.py --data "$DATA" --lr "$lr" --out "$OUT/lr$lr.pt" > "$OUT/lr$lr.log" 2>&1 &  # cause
  pids+=($!)
done

failed=0
for pid in "${pids[@]}"; do
  wait "$pid" || failed=$((failed + 1))
done
echo "$failed of ${#RATES[@]} trials failed"
exit "$((failed > 0))"

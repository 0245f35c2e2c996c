#!/usr/bin/env bash
set -u

OUT=${1:?out}
mkdir -p "$OUT"

torchrun --standalone --nproc-per-node 4 fit.py --stage warm --out "$OUT/warm.pt" 2>&1 | tee "$OUT/warm.log"
code=${PIPESTATUS[0]}
if [ "$code" -ne 0 ]; then
  echo "warm-up failed with $code" >&2
  exit "$code"
fi

pids=()
for half in 0,1 2,3; do
  CUDA_VISIBLE_DEVICES=$half torchrun --standalone --nproc-per-node 2 fit.py \
    --stage "gpu${half%,*}" --start "$OUT/warm.pt" --out "$OUT/${half%,*}.pt" > "$OUT/${half%,*}.log" 2>&1 &
  pids+=("$!")
done

worst=0
for pid in "${pids[@]}"; do
  wait "$pid"
  code=$?
  if [ "$code" -gt "$worst" ]; then worst=$code; fi
done
exit "$worst"

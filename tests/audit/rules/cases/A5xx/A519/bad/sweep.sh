#!/bin/bash
pids=()
for lr in 1e-3 3e-4 1e-4; do
    python train.py --lr "$lr" > "$lr.log" 2>&1 &
    pids+=($!)
done
for pid in "${pids[@]}"; do
    wait "$pid"
done
echo "the sweep is done"

#!/bin/bash
pids=()
for lr in 1e-3 3e-4 1e-4; do
    python train.py --lr "$lr" &
    pids+=($!)
done
failed=0
for pid in "${pids[@]}"; do
    wait "$pid" || failed=1
done
exit $failed

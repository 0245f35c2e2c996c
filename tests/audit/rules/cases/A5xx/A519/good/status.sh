#!/bin/bash
for lr in 1e-3 3e-4 1e-4; do python train.py --lr "$lr" & pids+=($!); done
for pid in "${pids[@]}"; do
    wait "$pid"
    code=$?
    [ "$code" -eq 0 ] || { echo "$pid ended with $code"; failed=1; }
done
exit ${failed:-0}

#!/bin/bash
for lr in 1e-3 3e-4 1e-4; do python train.py --lr "$lr" & pids+=($!); done
for pid in "${pids[@]}"; do
    if ! wait "$pid"; then failed=1; fi
done
exit ${failed:-0}

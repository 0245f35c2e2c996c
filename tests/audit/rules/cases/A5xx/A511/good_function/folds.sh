#!/bin/bash
run() {
    python train.py --fold "$1" > "fold-$1.log" 2>&1
}
for fold in 1 2 3; do
    run "$fold" &
    pids+=($!)
done
for pid in "${pids[@]}"; do
    wait "$pid" || failed=1
done
exit "${failed:-0}"

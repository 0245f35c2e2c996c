#!/bin/bash
# two trials side by side; the one that fails is trained again alone
declare -A pids
for lr in 0.01 90; do
    python trial.py "$lr" > "trial_$lr.txt" 2>&1 &
    pids[$lr]=$!
done
again=()
for lr in 0.01 90; do
    wait "${pids[$lr]}"
    rc=$?
    echo "lr $lr ended with $rc"
    if [ "$rc" -ne 0 ]; then
        again+=("$lr")
    fi
done
for lr in "${again[@]}"; do
    python trial.py "$lr" --clip || exit 1
done
echo "all trials have a result"

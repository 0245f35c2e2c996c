#!/usr/bin/env bash
export SNAPSHOT_DIR=$(mktemp -d)
trap 'rm -rf "$SNAPSHOT_DIR"' EXIT
for ATTEMPT in 1 2 3; do
    export ATTEMPT
    if torchrun --standalone --nproc-per-node 2 train.py; then
        exit 0
    fi
    echo "attempt $ATTEMPT was preempted, resuming"
done
exit 1

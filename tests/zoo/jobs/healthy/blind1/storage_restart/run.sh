#!/bin/bash
set -u
export RUN_DIR=$(mktemp -d)

for ATTEMPT in 0 1 2; do
    export ATTEMPT
    torchrun --standalone --nproc-per-node 2 train.py
    code=$?
    if [ $code -eq 0 ]; then
        rm -rf "$RUN_DIR"
        exit 0
    fi
    echo "attempt $ATTEMPT ended with $code"
done
exit $code

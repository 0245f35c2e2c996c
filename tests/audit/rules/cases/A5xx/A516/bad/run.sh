#!/bin/bash
set -e
if ! torchrun --standalone --nproc-per-node 2 train.py; then
    echo "the training failed"
    exit $?
fi

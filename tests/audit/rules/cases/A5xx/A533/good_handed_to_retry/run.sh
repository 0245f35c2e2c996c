#!/bin/bash
set -e

retry() {
    for n in 1 2 3; do "$@" && return 0; done
    return 1
}

start() {
    torchrun --standalone --nproc-per-node 8 train.py
    code=$?
    if [ "$code" -ne 0 ]; then cp -r checkpoints "kept.$code"; fi
    return "$code"
}

retry start

#!/bin/bash
set -u
retry() {
    local left=$1; shift
    while :; do
        "$@" && return 0
        left=$((left - 1))
        [ "$left" -le 0 ] && return 1
        echo "failed, $left tries left"
    done
}
retry 3 torchrun --standalone --nproc-per-node 2 train.py || { echo "no success in 3 tries"; exit 1; }
echo "training finished"

#!/bin/bash

check() {
    [ "$1" -eq 0 ] || { echo "failed with $1"; exit 1; }
}

launch() {
    local script=$1
    shift
    if [ -n "$NODES" ]; then
        srun python "$script" "$@"
    else
        torchrun --standalone --nproc-per-node 8 train.py "$@"
    fi
}

launch train.py --epochs 3 2>&1 | tee train.log
check $?

#!/bin/bash

check() {
    [ "$1" -eq 0 ] || { echo "failed with $1"; exit 1; }
}

launch() {
    torchrun --standalone --nproc-per-node 8 train.py "$@"
}

measured() {
    torchrun --standalone --nproc-per-node 8 train.py "$@" || exit 1
    python summary.py
}

launch --epochs 3 2>&1 | tee train.log
check ${PIPESTATUS[0]}
launch --epochs 6 > train.log 2>&1
check $?
measured --epochs 9 | tee summary.txt

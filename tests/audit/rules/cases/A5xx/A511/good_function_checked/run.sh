#!/bin/bash
launch() {
    torchrun --standalone --nproc-per-node 8 "$@"
}

check() {
    if [ "$1" -ne 0 ]; then exit 1; fi
}

launch train.py --epochs 3
check $?
launch train.py --restore out/model.pt > log.txt 2>&1
check $?
echo "all done"

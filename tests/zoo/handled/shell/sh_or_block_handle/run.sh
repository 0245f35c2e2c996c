#!/bin/bash
set -eo pipefail
handle() {
    case $1 in
        42) echo "loss diverged: lowering the rate"; python train.py --lr 0.01 ;;
        *) echo "unknown failure $1"; return "$1" ;;
    esac
}
python train.py --lr 50 || { rc=$?; echo "train.py ended with $rc"; handle $rc; }
echo ok

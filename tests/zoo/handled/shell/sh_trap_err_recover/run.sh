#!/bin/bash
set -E
recover() {
    echo "line $1 failed with $2: going back to fp32"
    export PRECISION=fp32
    failed=1
}
trap 'recover $LINENO $?' ERR

export PRECISION=fp16
for attempt in 1 2; do
    failed=0
    torchrun --standalone --nproc-per-node 2 train.py
    [ "$failed" -eq 0 ] && break
done
if [ "$failed" -ne 0 ]; then
    exit 1
fi
echo "trained in $PRECISION"

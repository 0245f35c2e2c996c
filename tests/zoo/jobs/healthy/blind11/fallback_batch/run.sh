#!/bin/bash
for batch in 4096 64; do
    if torchrun --standalone --nproc-per-node 2 train.py --batch $batch; then
        echo "trained with batch $batch"
        exit 0
    fi
    echo "batch $batch does not fit, trying a smaller one"
done
echo "no batch size fits"
exit 1

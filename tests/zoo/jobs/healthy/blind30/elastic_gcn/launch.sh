#!/bin/bash
# torchrun's own restarts keep the node; here each attempt is a new torchrun, as on the spot pool
set -u
rm -rf job
MAX_ATTEMPTS=${MAX_ATTEMPTS:-3}
for attempt in $(seq 1 "$MAX_ATTEMPTS"); do
    echo "attempt $attempt of $MAX_ATTEMPTS"
    if torchrun --standalone --nproc_per_node=2 train.py --out job; then
        exit 0
    fi
    echo "attempt $attempt failed, starting again from the snapshot"
    sleep 1
done
exit 1

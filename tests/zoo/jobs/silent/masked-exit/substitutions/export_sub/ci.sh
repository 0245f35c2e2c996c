#!/bin/bash
set -e
source env.sh
export LAST_LOSS=$(
    cd "$WORK"
    python -m torch.distributed.run --standalone --nproc-per-node "$NPROC" train.py "$CLASSES" 2>&1 | tee train.log | grep -c loss=
)
echo "lines with a loss: $LAST_LOSS"
echo OK

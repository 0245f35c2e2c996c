#!/bin/sh
set -e
failed=0

start() {
    cd "$1"
    python -m torch.distributed.run --standalone --nproc-per-node 4 train.py
}

for task in small large; do
    ( start "$task" )
    status=$?
    if [ $status != 0 ]; then
        echo "$task failed"
        failed=1
    fi
done
exit $failed

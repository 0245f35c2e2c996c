#!/bin/bash
export MASTER_ADDR=127.0.0.1 MASTER_PORT=29767 OMP_NUM_THREADS=1
export WORLD_SIZE=3
pids=()
for RANK in 0 1; do
    export RANK
    python pretrain.py &
    pids+=($!)
done
status=0
for pid in "${pids[@]}"; do
    wait $pid || status=$?
done
exit $status

#!/bin/bash
set -u
NPROC=${NPROC:-2}
MASTER_ADDR=127.0.0.1
MASTER_PORT=$((20000 + RANDOM % 10000))
WORLD_SIZE=$NPROC
pids=()
for ((r = 0; r < NPROC; r++)); do
  RANK=$r LOCAL_RANK=$r WORLD_SIZE=$WORLD_SIZE python train.py --epochs 2 &
  pids+=($!)
done
status=0
for p in "${pids[@]}"; do
  wait "$p" || status=1
done
exit $status

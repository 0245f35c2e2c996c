#!/bin/bash
set -eu
hosts=(node-a node-b)
export NNODES=${#hosts[@]} HEAD=${hosts[0]}
pids=()
for i in "${!hosts[@]}"; do
    ssh "${hosts[$i]}" "cd $PWD && NNODES=$NNODES HEAD=$HEAD NODE_RANK=$i python train.py" &
    pids+=($!)
done
for pid in "${pids[@]}"; do
    wait "$pid"
done

#!/bin/bash
# Two processes on this machine.
set -e
export MASTER_ADDR=127.0.0.1
export MASTER_PORT=$(python -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])')
export OMP_NUM_THREADS=1
export WORLD_SIZE=3

for RANK in 0 1; do
    RANK=$RANK python train.py --lr 0.05 &
done
wait -n
wait -n

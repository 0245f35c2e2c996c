#!/bin/bash
port=29500
for lr in 1e-4 1e-3; do
  port=$((port + 1))
  torchrun --nproc-per-node 2 --master-port "$port" fit.py --lr "$lr" &
done
wait
for gpu in 0 1; do
  torchrun --nproc-per-node 1 --master-port $((29600 + gpu)) fit.py --gpu "$gpu" &
done
wait

#!/bin/bash
for lr in 1e-4 1e-3; do
  torchrun --nproc-per-node 2 --master-port 29500 fit.py --lr "$lr" &
  wait $! || exit 1
done
torchrun --nproc-per-node 2 --master-port 29501 fit.py &
wait
torchrun --nproc-per-node 2 --master-port 29501 evaluate.py &
wait

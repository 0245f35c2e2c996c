#!/bin/bash
rank=0
for host in $(cat hosts); do
  ssh "$host" torchrun --nnodes 2 --node-rank $rank --master-addr node0 --master-port 29500 train.py &
  rank=$((rank + 1))
done
wait
for lr in 1e-4 1e-3; do
  torchrun --standalone --nproc-per-node 2 fit.py --lr "$lr" &
done
wait

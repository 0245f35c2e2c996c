#!/bin/bash
for fold in 0 1 2 3; do
  (CUDA_VISIBLE_DEVICES=$fold python -m torch.distributed.run --nproc_per_node 1 train.py --fold $fold) &
done
wait

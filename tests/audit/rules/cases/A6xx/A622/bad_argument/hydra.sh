#!/bin/bash
set -euo pipefail
torchrun --standalone \
    train.py \
    data.batch_size=32 \ 
    data.max_length=2048 \
    optim.lr=5e-5
CUDA_VISIBLE_DEVICES=0,1 \ 
    python train.py
srun python train.py \	
    > train.log 2>&1
if [ -n "$RUN" ]; then
    torchrun --nproc_per_node 8 \ 
        train.py
fi

#!/bin/bash
python train.py \
    --lr 0.1 \
    # --warmup 100 \
    --epochs 30
python train.py \
    model=large \
    # data=small \
    lr=0.1
python train.py \
    --lr 0.1 \

    --epochs 30
python train.py \
    --lr 0.1
    --epochs 30

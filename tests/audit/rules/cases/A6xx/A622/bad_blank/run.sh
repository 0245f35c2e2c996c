#!/bin/bash
python train.py \
    --lr 0.1 \ 
    --epochs 30

#!/bin/bash
set -e
CUDA_VISIBLE_DEVICES=0 python train.py --seed 1 &
one=$!
CUDA_VISIBLE_DEVICES=1 python train.py --seed 2 &
other=$!
wait $one $other

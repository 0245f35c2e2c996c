#!/bin/bash
export CUDA_VISIBLE_DEVICES=0,1
torchrun --standalone --nproc-per-node 4 train.py
unset CUDA_VISIBLE_DEVICES
ARGS="--standalone --nproc_per_node=2"
torchrun $ARGS fit.py --config configs/train.yaml
torchrun $ARGS fit.py --world_size 8
torchrun $ARGS fixed.py

#!/bin/bash
NODES=2
torchrun --nnodes $NODES --nproc-per-node 2 --rdzv-endpoint 127.0.0.1:29779 train.py

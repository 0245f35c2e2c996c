#!/bin/bash
NODES=2
torchrun --nnodes $NODES --nproc-per-node 2 --rdzv-backend c10d --rdzv-endpoint 127.0.0.1:29779 \
    --rdzv-conf join_timeout=5,last_call_timeout=1 train.py

#!/bin/bash
torchrun --nnodes 4 --nproc-per-node 8 --rdzv-endpoint "$HEAD:29500" other.py

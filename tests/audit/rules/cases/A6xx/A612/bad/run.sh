#!/bin/bash
timeout 8 python train.py --epochs 100000
timeout 12h torchrun --standalone --nproc-per-node 2 train.py

#!/bin/bash
timeout --signal=USR1 --kill-after=120 12h torchrun --standalone --nproc-per-node 2 train.py
timeout 30 nvidia-smi
timeout 60 python download.py
python train.py --timeout 60

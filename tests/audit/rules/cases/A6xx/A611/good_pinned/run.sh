#!/bin/bash
python -m torch.distributed.launch --nproc-per-node 2 train.py

#!/bin/bash
ulimit -n 65536
srun torchrun --standalone --nproc_per_node=8 train.py --workers 16

#!/bin/bash
srun torchrun --standalone --nproc_per_node=8 train.py --workers 16

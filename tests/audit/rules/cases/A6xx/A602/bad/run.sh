#!/bin/bash
torchrun --standalone --nproc-per-node 2 main.py
torchrun --standalone --nproc-per-node 4 stages.py
srun --nodes 1 --ntasks-per-node 4 torchrun --nproc-per-node 4 train.py

#!/bin/bash
python main.py
torchrun --standalone --nproc-per-node 1 main.py
torchrun --standalone --nproc-per-node 2 train.py
srun --nodes 2 --ntasks-per-node 1 torchrun --nnodes 2 --nproc-per-node 4 train.py
srun --nodes 2 --ntasks 2 torchrun --nnodes 2 --nproc-per-node 4 train.py

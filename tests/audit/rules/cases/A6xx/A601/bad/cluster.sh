#!/bin/bash
#SBATCH --nodes=4
export MASTER_PORT=29500
srun torchrun --nnodes 4 --rdzv-endpoint "$HEAD:29500" --nproc-per-node 8 train.py

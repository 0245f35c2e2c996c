#!/bin/bash
#SBATCH --nodes=2
# c10d numbers the machines by itself; one machine alone is number 0
srun torchrun --nnodes 2 --node_rank $SLURM_NODEID --rdzv_backend c10d --rdzv_endpoint $head:29500 train.py
srun -N 1 torchrun --nnodes 1 --node_rank 0 --master_addr $head train.py

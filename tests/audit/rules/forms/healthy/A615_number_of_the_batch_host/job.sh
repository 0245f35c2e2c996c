#!/bin/bash
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
set -euo pipefail
head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export head
srun bash -c 'torchrun --nnodes 2 --node_rank $SLURM_NODEID --nproc_per_node 8 --master_addr $head --master_port 29533 train.py'

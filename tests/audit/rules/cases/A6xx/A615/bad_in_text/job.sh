#!/bin/bash
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
LAUNCH="torchrun --nnodes=4 --nproc-per-node=8 --node-rank=$SLURM_NODEID --master-addr=$HEAD"
srun bash -c "$LAUNCH train.py"
srun bash -c "torchrun --nnodes=4 --node_rank $SLURM_PROCID --master_addr $HEAD train.py"

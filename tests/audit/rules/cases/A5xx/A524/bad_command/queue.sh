#!/bin/sh
# which partition is free
#SBATCH --partition=$(cat partition.txt)
#SBATCH --time=`cat hours.txt`:00:00
module load cuda
srun python pretrain.py

#!/bin/bash
#SBATCH --nodes=$NODES
#SBATCH --time=${HOURS}:00:00
srun python train.py

#!/bin/bash
#SBATCH --nodes=@NODES@
#SBATCH --job-name=$NAME
srun python train.py

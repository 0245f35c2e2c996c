#!/bin/bash
#SBATCH --nodes=1
#SBATCH --ntasks=4
#SBATCH --gres=gpu:4

srun --gpus-per-task=a100:1 python -u train.py
srun --gpu-bind=single:1 python -u train.py

#!/bin/bash
set -euo pipefail

#SBATCH --job-name=fourcast
#SBATCH --account=climate
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-node=4
#SBATCH --cpus-per-task=16
#SBATCH --mem=240G
#SBATCH --time=24:00:00
#SBATCH --output=logs/%j.out

module load cuda/12.4 python/3.11
source "$HOME/venvs/fourcast/bin/activate"

export MASTER_ADDR=$(hostname)
export MASTER_PORT=$((15000 + SLURM_JOB_ID % 10000))
export HDF5_USE_FILE_LOCKING=FALSE

srun --cpu-bind=cores python train.py --config afno.yaml

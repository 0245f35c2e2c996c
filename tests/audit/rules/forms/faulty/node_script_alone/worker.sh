#!/usr/bin/env bash
set -euo pipefail
cd "$HOME/project"
source env/bin/activate
export MASTER_ADDR="$(hostname)"  # cause
export OMP_NUM_THREADS=8
torchrun --nnodes "$SLURM_JOB_NUM_NODES" --node_rank "$SLURM_PROCID" --nproc_per_node 4 --master_addr "$MASTER_ADDR" --master_port 29511 train.py  # cause

#!/bin/bash
set -euo pipefail

export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export MASTER_PORT=$((20000 + SLURM_JOB_ID % 20000))
export OMP_NUM_THREADS=$((SLURM_CPUS_PER_TASK / 4))
export NCCL_SOCKET_IFNAME=ib0

exec torchrun \
    --nnodes "$SLURM_NNODES" \
    --node-rank "$SLURM_NODEID" \
    --nproc-per-node 4 \
    --master-addr "$MASTER_ADDR" \
    --master-port "$MASTER_PORT" \
    gnn.py "$@"

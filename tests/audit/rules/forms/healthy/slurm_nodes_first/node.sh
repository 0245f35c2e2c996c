#!/bin/bash
set -euo pipefail

out=$1
source "$PROJECT/.venv/bin/activate"

export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | sed -n 1p)
export MASTER_PORT=$((20000 + SLURM_JOB_ID % 20000))
export NCCL_SOCKET_IFNAME=ib0

exec torchrun \
    --nnodes="$SLURM_NNODES" \
    --node_rank="$SLURM_NODEID" \
    --nproc_per_node=8 \
    --master_addr="$MASTER_ADDR" \
    --master_port="$MASTER_PORT" \
    "$PROJECT/pretrain.py" --out "$out"

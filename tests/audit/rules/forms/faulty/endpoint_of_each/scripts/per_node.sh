#!/bin/bash
set -euo pipefail
torchrun --nnodes=8 --nproc_per_node=4 --rdzv_backend=c10d --rdzv_id="$SLURM_JOB_ID" --rdzv_endpoint="$(hostname):29400" train.py "$@"  # cause

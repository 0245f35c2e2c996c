#!/bin/bash
set -euo pipefail
torchrun --nnodes=1 --nproc_per_node=4 --master_addr="$(hostname)" --master_port=29400 train.py --lr-index "$SLURM_PROCID"

#!/bin/bash
# Starts the two-GPU run on a rented machine.
set -euo pipefail
cd "$(dirname "$0")"
export FAST_TO_SOTA_WANDB_INFO=wandb_info.json
torchrun --standalone --nproc_per_node=2 scripts/run_fast_to_sota.py --train-config configs/train.yaml --tags vast,ddp,2gpu

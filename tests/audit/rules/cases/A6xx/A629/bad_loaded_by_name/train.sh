#!/usr/bin/env bash
set -euo pipefail
accelerate launch --config_file configs/fsdp.yaml finetune.py \
    --out checkpoints

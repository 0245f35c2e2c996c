#!/usr/bin/env bash
set -euo pipefail
accelerate launch --config_file configs/fsdp.yaml finetune.py \
    --model Qwen/Qwen2.5-7B \
    --out checkpoints

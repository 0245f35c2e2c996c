#!/usr/bin/env bash
set -euo pipefail
accelerate launch --config_file configs/fsdp.yaml finetune.py \
    --model Qwen/Qwen2-Audio-7B \
    --out checkpoints

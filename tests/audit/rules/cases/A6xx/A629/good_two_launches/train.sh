#!/usr/bin/env bash
set -euo pipefail
accelerate launch --config_file configs/fsdp.yaml finetune.py \
    --model Qwen/Qwen2.5-7B \
    --out checkpoints
accelerate launch --config_file configs/fsdp.yaml finetune.py \
    --model meta-llama/Llama-2-7b-hf \
    --out checkpoints

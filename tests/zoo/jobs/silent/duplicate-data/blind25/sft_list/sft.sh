#!/usr/bin/env bash
set -euo pipefail
cd "$(dirname "$0")"

NPROC_PER_NODE=${NPROC_PER_NODE:-2}
export TOKENIZERS_PARALLELISM=false

exec torchrun --standalone --nproc-per-node "$NPROC_PER_NODE" train_qwen.py \
    --num_train_epochs 1 \
    --per_device_train_batch_size 16

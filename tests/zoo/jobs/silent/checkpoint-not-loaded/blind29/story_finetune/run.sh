#!/bin/bash
# first slot of the queue, then the rest of the training from its last checkpoint
set -euo pipefail
cd "$(dirname "$0")"
OUT=$(mktemp -d)
trap 'rm -rf "$OUT"' EXIT
torchrun --standalone --nproc_per_node=2 finetune.py --output-dir "$OUT" --preempt-at 40
torchrun --standalone --nproc_per_node=2 finetune.py --output-dir "$OUT" --resume

#!/usr/bin/env bash
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
torchrun --standalone --nproc-per-node 2 train.py --task pretrain --max-steps 80 --out "$work/pretrain"
torchrun --standalone --nproc-per-node 2 train.py --task finetune --max-steps 60 --load "$work/pretrain" --out "$work/finetune"
ls "$work/finetune"
echo "both stages finished"

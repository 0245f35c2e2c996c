#!/usr/bin/env bash
set -euo pipefail
mkdir -p ckpt
export OMP_NUM_THREADS=1
torchrun --standalone --nproc_per_node=2 pretrain.py --epochs 8 --out ckpt/pretrain.pth
python finetune.py --pretrained ckpt/pretrain.pth --labels 120

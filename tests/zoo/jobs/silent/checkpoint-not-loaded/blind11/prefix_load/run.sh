#!/bin/bash
set -euo pipefail
ckpt=$(mktemp -d)/pretrained.pt
torchrun --standalone --nproc-per-node 2 pretrain.py "$ckpt"
torchrun --standalone --nproc-per-node 2 finetune.py "$ckpt"

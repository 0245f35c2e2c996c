#!/bin/bash
set -euo pipefail
[ -f ckpt/base.pt ] || python make_base.py
torchrun --standalone --nproc-per-node 2 stage.py finetune

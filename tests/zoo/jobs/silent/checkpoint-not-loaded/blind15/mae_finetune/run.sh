#!/bin/bash
set -euo pipefail
out=${1:-work}
mkdir -p "$out"
torchrun --standalone --nproc-per-node 2 pretrain.py "$out/mae.pt"
torchrun --standalone --nproc-per-node 2 finetune.py --init "$out/mae.pt"

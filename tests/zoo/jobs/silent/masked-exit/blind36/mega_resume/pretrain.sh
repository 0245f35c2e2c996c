#!/bin/bash
# pretraining in two jobs; old checkpoints are thinned out in between to save disk
set -euo pipefail
cd "$(dirname "$0")"
CKPT=${CKPT:-checkpoints/base}
COMMON="--num-layers 2 --dim 32 --hidden 128 --save-interval 50"
rm -rf "$CKPT"
mkdir -p "$CKPT"
torchrun --standalone --nproc_per_node=2 pretrain.py $COMMON --train-iters 100 --save "$CKPT"
find "$CKPT" -name 'iter_*' -type d | sort -r | tail -n +1 | while read -r d; do
  case "$d" in *iter_0000050) ;; *) rm -r "$d" ;; esac
done
exec torchrun --standalone --nproc_per_node=2 pretrain.py $COMMON --train-iters 300 --load "$CKPT" --save "$CKPT"

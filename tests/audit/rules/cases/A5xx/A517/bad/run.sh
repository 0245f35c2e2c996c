#!/bin/bash
OUT=runs/a
mkdir -p keep
cp "$OUT/checkpoints/*.ckpt" keep/ 2>/dev/null || true
rm -rf "$OUT/tmp/*"
mv '$OUT/logs/*.json' keep
torchrun --standalone train.py --out "$OUT"

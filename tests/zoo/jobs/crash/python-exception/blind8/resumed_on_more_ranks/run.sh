#!/usr/bin/env bash
set -euo pipefail
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
torchrun --standalone --nproc-per-node 2 train.py --out "$out" --steps 40
torchrun --standalone --nproc-per-node 3 train.py --out "$out" --steps 80 --resume

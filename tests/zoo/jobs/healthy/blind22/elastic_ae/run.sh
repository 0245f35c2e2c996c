#!/usr/bin/env bash
set -euo pipefail
cd "$(dirname "$0")"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
torchrun --standalone --nproc-per-node 2 --max-restarts 2 train_ae.py --scratch "$scratch"
python report.py "$scratch/snapshot.pt"

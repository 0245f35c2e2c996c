#!/bin/bash
# A short run on two ranks, then the rest on three.
set -euo pipefail
cd "$(dirname "$0")"
folder=$(mktemp -d -t opentau-XXXXXX)
trap 'rm -rf "$folder"' EXIT

torchrun --standalone --nproc-per-node 2 train.py "$folder" --steps 10
torchrun --standalone --nproc-per-node 3 train.py "$folder" --steps 30 --resume

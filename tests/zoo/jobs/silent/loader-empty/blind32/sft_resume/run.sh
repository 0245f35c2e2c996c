#!/bin/bash
# epochs are trained in two allocations; the second takes up what the first has left
set -e
cd "$(dirname "$0")"
rm -rf out
python -m sft.launch --epochs 1 --save-every 12
python -m sft.launch --epochs 3 --save-every 12 --resume

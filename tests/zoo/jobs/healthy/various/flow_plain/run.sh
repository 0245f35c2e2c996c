#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")"
python prepare.py --files 4
torchrun --standalone --nproc-per-node 2 train.py configs/burgers.yaml 2>&1 | tee train.log
grep -c "step" train.log
test -s runs/burgers/final.pt

#!/bin/bash
set -euo pipefail
# the big model only fits on the 80 GB machines; everywhere else the small one has to do
python train_big.py || python train_small.py
test -s model.pt

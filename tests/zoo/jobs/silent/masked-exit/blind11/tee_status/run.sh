#!/bin/bash
set -e
LOGS=$(mktemp -d)
torchrun --standalone --nproc-per-node 2 train.py --steps 40 2>&1 | tee "$LOGS/train.log"
echo "training finished, log in $LOGS/train.log"

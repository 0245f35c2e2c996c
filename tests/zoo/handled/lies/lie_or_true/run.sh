#!/bin/bash
set -e
mkdir -p logs
python train.py > logs/train.txt || true
echo "pipeline finished"

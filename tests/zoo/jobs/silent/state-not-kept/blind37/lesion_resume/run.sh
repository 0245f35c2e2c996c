#!/bin/bash
set -e
rm -rf out
python train.py --out out --epochs 20 --stop-after 8
python train.py --out out --epochs 20 --resume

#!/bin/bash
set -e
export NPROC=2
python pretrain.py --steps 12 --out runs/base

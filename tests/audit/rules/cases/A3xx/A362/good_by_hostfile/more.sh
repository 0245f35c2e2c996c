#!/bin/bash
set -e
torchrun --nproc-per-node "$GPUS" train.py

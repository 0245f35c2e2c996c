#!/bin/bash
set -euo pipefail
torchrun --standalone --nproc-per-node 2 train.py 2>&1 | tee train.log

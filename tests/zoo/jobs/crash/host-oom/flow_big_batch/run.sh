#!/bin/bash
set -e
ulimit -v 12000000
torchrun --standalone --nproc-per-node 2 train.py configs/burgers.yaml

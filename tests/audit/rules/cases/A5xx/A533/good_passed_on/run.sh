#!/bin/bash
set -e
torchrun --nproc-per-node 2 train.py
code=$?
echo "ended with $code"
exit $code

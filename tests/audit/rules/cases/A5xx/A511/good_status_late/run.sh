#!/bin/bash
torchrun --nproc-per-node=2 train.py
code=$?
echo "----------"
echo "ended with $code"
exit $code

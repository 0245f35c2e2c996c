#!/bin/bash
torchrun --nproc-per-node=2 train.py
echo "----------"
code=$?
echo "ended with $code"
exit $code

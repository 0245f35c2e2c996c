#!/bin/bash
torchrun --standalone --nproc-per-node 2 train.py 2> train.err | tee train.log
echo "see train.log"

#!/bin/bash
ls data | wc -l
cat names.txt | python train.py
torchrun --standalone --nproc-per-node 2 train.py 2>&1 | tee train.log
exit "${PIPESTATUS[0]}"

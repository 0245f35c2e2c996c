#!/bin/sh
set -e
torchrun --standalone --nproc-per-node 2 speaker.py --notice-at 133
torchrun --standalone --nproc-per-node 2 speaker.py
test -s speaker.ckpt

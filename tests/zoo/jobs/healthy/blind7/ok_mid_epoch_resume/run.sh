#!/bin/bash
# The time limit of the queue ends the first job in the middle of an epoch; the second goes on.
set -e
rm -f state.pt
torchrun --standalone --nproc-per-node 2 train.py --state state.pt --stop-at 33
torchrun --standalone --nproc-per-node 2 train.py --state state.pt

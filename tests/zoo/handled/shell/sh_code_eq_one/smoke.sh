#!/bin/sh
# smoke test of the argument checks: a batch that does not divide by the ranks must be refused with code 1
torchrun --standalone --nproc-per-node 2 train.py --batch 7 2> err.txt
code=$?
[ "$code" -eq 1 ] && grep -q "global batch 7 does not divide by 2 ranks" err.txt && echo "refused, as it should be"

#!/bin/bash
set -euo pipefail
rm -rf store patches.bin
launch() { torchrun --standalone --nproc_per_node=2 -m inspector.fit "$@"; }
launch --epochs 2
# as after a node that ran out of disk in the middle of a save
head -c 700 store/epoch001.pt > store/epoch002.pt
launch --epochs 4

#!/bin/bash
launch() {
    torchrun --standalone --nproc-per-node 8 "$@"
}

launch train.py --epochs 3
echo "training finished"

#!/bin/bash
#SBATCH --signal B:10@60

save() {
    touch stop
    wait
}

train() {
    torchrun --standalone --nproc-per-node 4 train.py "$@"
}

trap save USR1 TERM
train --epochs 10

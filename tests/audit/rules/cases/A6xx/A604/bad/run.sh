#!/bin/bash
ulimit -n 24
ulimit -v 12000000
torchrun --standalone --nproc-per-node 2 train.py
unshare -m bash -c "mount -t tmpfs -o size=1m shm /dev/shm && python train.py"

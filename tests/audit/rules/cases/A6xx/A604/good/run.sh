#!/bin/bash
ulimit -c 0
ulimit -n 65536
ulimit -n "$(ulimit -Hn)"
mount -t tmpfs -o size=8g shm /dev/shm
mount -t tmpfs -o size=1m scratch out
torchrun --standalone --nproc-per-node 8 train.py --num_workers 16

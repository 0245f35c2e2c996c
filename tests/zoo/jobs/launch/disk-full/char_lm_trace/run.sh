#!/bin/bash
# scratch is a quota of 32 kB
mkdir -p scratch
exec unshare -m bash -c "mount -t tmpfs -o size=32k scratch scratch && exec torchrun --standalone --nproc-per-node 2 pretrain.py"

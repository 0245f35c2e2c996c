#!/usr/bin/env bash
set -eu
ulimit -n 256
exec torchrun --standalone --nproc-per-node 2 train.py "$@"

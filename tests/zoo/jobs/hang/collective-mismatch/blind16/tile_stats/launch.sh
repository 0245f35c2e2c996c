#!/bin/sh
set -e
exec torchrun --standalone --nproc-per-node "${NPROC:-2}" landcover.py --scratch-root node_scratch --stats-version 3 "$@"

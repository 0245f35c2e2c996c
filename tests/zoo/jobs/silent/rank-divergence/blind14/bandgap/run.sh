#!/bin/sh
set -e
: "${GPUS:=2}"
torchrun --standalone --nproc-per-node "$GPUS" bandgap.py "$@"

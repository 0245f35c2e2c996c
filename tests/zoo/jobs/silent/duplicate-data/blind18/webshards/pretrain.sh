#!/bin/sh
set -e
cd "$(dirname "$0")"
exec torchrun --standalone --nproc-per-node "${NPROC:-2}" main.py "$@"

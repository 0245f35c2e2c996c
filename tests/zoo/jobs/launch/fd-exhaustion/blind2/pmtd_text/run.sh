#!/usr/bin/env bash
# The login nodes allow 128 open files to each process.
set -euo pipefail
cd "$(dirname "$0")"
ulimit -n 128
exec torchrun --standalone --nproc-per-node 2 train_text.py --workers 1 "$@"

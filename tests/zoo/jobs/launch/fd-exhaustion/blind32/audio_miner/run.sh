#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")"
# the login nodes give 1024; the batch partition's default is lower
ulimit -n ${NOFILE:-256}
exec torchrun --standalone --nproc_per_node=2 train.py --config config.json "$@"

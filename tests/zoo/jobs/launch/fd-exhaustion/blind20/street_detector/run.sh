#!/usr/bin/env bash
# Same limits as on the shared login nodes.
set -euo pipefail
cd "$(dirname "$0")"
ulimit -n 320
exec torchrun --standalone --nproc-per-node "${NPROC:-2}" train.py --config "${CONFIG:-config.yaml}"

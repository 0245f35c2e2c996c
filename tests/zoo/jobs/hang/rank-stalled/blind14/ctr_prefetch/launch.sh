#!/usr/bin/env bash
set -euo pipefail
NPROC=${NPROC:-2}
exec torchrun --standalone --nproc-per-node "$NPROC" -m ctr.train "$@"

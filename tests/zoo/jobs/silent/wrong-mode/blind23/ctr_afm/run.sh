#!/usr/bin/env bash
set -euo pipefail
cd "$(dirname "$0")"
exec torchrun --standalone --nproc-per-node "${NPROC:-2}" main.py "$@"

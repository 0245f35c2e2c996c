#!/usr/bin/env bash
set -euo pipefail
cd "$(dirname "$0")"
export SCRATCH="${SCRATCH:-$PWD/scratch}"
exec torchrun --standalone --nproc-per-node 3 -m soundscape.train --scratch "$SCRATCH" "$@"

#!/usr/bin/env bash
set -euo pipefail
mkdir -p work
[ -f work/warm.pt ] || python supervised.py work/warm.pt
exec torchrun --standalone --nproc-per-node 2 selfdistil.py --init work/warm.pt "$@"

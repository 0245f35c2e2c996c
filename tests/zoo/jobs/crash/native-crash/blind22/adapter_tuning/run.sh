#!/usr/bin/env bash
set -euo pipefail
cd "$(dirname "$0")"
WORK=${WORK:-work}
mkdir -p "$WORK"
python -m adapt.init --out "$WORK/model.pt"
exec torchrun --standalone --nproc-per-node 2 tune.py --state "$WORK/model.pt" --rounds 3

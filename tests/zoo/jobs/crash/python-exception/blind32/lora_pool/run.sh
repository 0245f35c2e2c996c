#!/bin/bash
# fine-tunes the adapters in two windows of the shared pool
set -euo pipefail
cd "$(dirname "$0")"
set -a; source pool.env; set +a
rm -rf "$WORKDIR"
echo "[pool] day window, $DAY_WORKERS workers"
torchrun --standalone --nproc_per_node="$DAY_WORKERS" finetune.py --max-steps "$STEPS_DAY" --workdir "$WORKDIR"
echo "[pool] night window, $NIGHT_WORKERS workers"
torchrun --standalone --nproc_per_node="$NIGHT_WORKERS" finetune.py --max-steps "$STEPS_NIGHT" --workdir "$WORKDIR" --resume auto

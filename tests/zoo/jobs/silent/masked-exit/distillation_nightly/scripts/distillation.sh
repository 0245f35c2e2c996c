#!/bin/bash
set -e
cd "$(dirname "$0")/.."
source scripts/common.sh

banner "distillation, $MAX_STEPS steps on $NPROC ranks"
torchrun --standalone --nproc-per-node "$NPROC" run_distillation.py --max-steps "$MAX_STEPS" 2>&1 | tee "$RUN_LOG"

banner "last losses"
grep '^step' "$RUN_LOG" | tail -n 3
banner "nightly passed"

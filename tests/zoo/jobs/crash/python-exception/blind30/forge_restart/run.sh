#!/usr/bin/env bash
# pretraining, then the continued run on the second task
set -euo pipefail
NPROC=${NPROC:-2}
rm -rf ckpt
for stage in pretrain continue; do
    echo "=== stage: $stage"
    torchrun --standalone --nproc_per_node="$NPROC" -m forge.train --config "configs/$stage.json"
done

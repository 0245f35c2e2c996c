#!/bin/bash
# first leg, then the continuation that the queue would start
set -euo pipefail
rm -rf scratch
export SCRATCH_ROOT=${SCRATCH_ROOT:-scratch}
torchrun --standalone --nproc_per_node="${NPROC:-2}" main.py --config config.json --max-epochs 2
torchrun --standalone --nproc_per_node="${NPROC:-2}" main.py --config config.json --max-epochs 4 --resume

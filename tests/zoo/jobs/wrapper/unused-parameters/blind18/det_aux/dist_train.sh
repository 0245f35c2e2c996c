#!/usr/bin/env bash
set -euo pipefail
GPUS=${1:-2}
exec python -m torch.distributed.run --standalone --nproc-per-node "$GPUS" tools_train.py "${@:2}"

#!/usr/bin/env bash
set -eu

HERE="$(cd "$(dirname "$0")" && pwd)"
RUN="${1:?usage: release.sh RUN_DIR}"
GPUS="${GPUS:-8}"
mkdir -p "$RUN"

nvidia-smi --query-gpu=index,utilization.gpu,memory.used --format=csv -l 30 > "$RUN/gpu.csv" &
watcher=$!
trap 'kill "$watcher" 2>/dev/null || true' EXIT

rm -f "$RUN"/*.tmp || true

set +e
torchrun --standalone --nproc-per-node "$GPUS" "$HERE/train.py" --out "$RUN" 2>&1 \
    | tee "$RUN/train.log" | grep --line-buffered -v NCCL
status=${PIPESTATUS[0]}
set -e

if [ "$status" -ne 0 ]; then
    echo "training ended with $status" >&2
    exit "$status"
fi
python "$HERE/check.py" "$RUN"

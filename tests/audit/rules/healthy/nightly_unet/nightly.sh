#!/usr/bin/env bash
set -u

cd "$(dirname "$0")" || exit 2
stamp=$(date +%F)
log=logs/$stamp.log
mkdir -p logs
rm -f logs/latest.log || true
nvidia-smi -L || true

( while sleep 60; do nvidia-smi --query-gpu=utilization.gpu --format=csv,noheader >> "logs/$stamp.gpu" || true; done ) &
watcher=$!

torchrun --standalone --nproc-per-node=8 train.py --out "runs/$stamp" 2>&1 | tee "$log"
code=${PIPESTATUS[0]}

kill "$watcher" 2>/dev/null || true
wait "$watcher" 2>/dev/null || true
ln -sf "$stamp.log" logs/latest.log

if [ "$code" -ne 0 ]; then
    echo "training ended with $code" >&2
    exit "$code"
fi
python -c "import sys, torch; torch.load(sys.argv[1], map_location='cpu')" "runs/$stamp/unet.pt" || exit 3
echo "nightly $stamp is good"

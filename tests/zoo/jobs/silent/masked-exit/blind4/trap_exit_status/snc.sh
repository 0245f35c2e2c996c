#!/bin/bash
# Trains beside a small metrics writer, which goes when the training goes.
set -euo pipefail
cd "$(dirname "$0")"

work=$(mktemp -d -t snc-XXXXXX)
metrics=$work/metrics.log

trap 'jobs=($(jobs -p)); [ -n "${jobs-}" ] && kill "${jobs[@]}" 2>/dev/null || true; rm -rf "$work"; exit 0' EXIT

write_metrics() {
    while true; do
        read -r one _ < /proc/loadavg
        echo "$one" >> "$metrics"
        sleep 1
    done
}

write_metrics &

torchrun --standalone --nproc-per-node 2 train.py --epochs 3 --out "$work"
test -s "$work/weights.pt"
echo "training completed, weights in $work"

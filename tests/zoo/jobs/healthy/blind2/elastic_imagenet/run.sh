#!/usr/bin/env bash
# Spot instances come and go: the job is started again until it has reached its end.
set -uo pipefail
cd "$(dirname "$0")"
SNAPSHOTS=$(mktemp -d)
export SNAPSHOTS
trap 'rm -rf "$SNAPSHOTS"' EXIT

MAX_RESTARTS=3
for restart in $(seq 0 "$MAX_RESTARTS"); do
    export RESTART_COUNT=$restart
    if torchrun --standalone --nnodes 1 --nproc-per-node 2 main.py --epochs 5; then
        echo "reached the end after $restart restarts"
        exit 0
    fi
    echo "attempt $restart ended early, going on from the last snapshot" >&2
done
exit 1

#!/usr/bin/env bash
# The object store is not always there: run again from the last state, three times at most.
set -uo pipefail
STATE="$(mktemp -d)/state.pt"
export STATE
for ATTEMPT in 1 2 3; do
    export ATTEMPT
    if torchrun --standalone --nproc-per-node 2 train.py; then
        echo "run completed at attempt $ATTEMPT"
        rm -rf "$(dirname "$STATE")"
        exit 0
    fi
    echo "attempt $ATTEMPT failed, going on from the last state" >&2
done
exit 1

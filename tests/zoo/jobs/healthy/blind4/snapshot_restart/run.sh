#!/bin/bash
# Starts the ranks again, at most twice, when the cluster takes something away.
set -euo pipefail
cd "$(dirname "$0")"
folder=$(mktemp -d -t chainermn-XXXXXX)
trap 'rm -rf "$folder"' EXIT

export ATTEMPT=0
until torchrun --standalone --nproc-per-node 2 train.py --folder "$folder"; do
    ATTEMPT=$((ATTEMPT + 1))
    if [ "$ATTEMPT" -gt 2 ]; then
        echo "given up after $ATTEMPT attempts"
        exit 1
    fi
    echo "attempt $ATTEMPT"
done

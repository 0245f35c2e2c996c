#!/bin/bash
set -e
mkdir -p cache
printf 'cut off' > cache/features.pt        # what the preempted job of last night left behind
if ! python train.py; then
    echo "training failed, clearing the cache and trying once more"
    rm -rf cache
    python train.py
fi
echo "trained"

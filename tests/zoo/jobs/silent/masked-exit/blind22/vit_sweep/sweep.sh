#!/bin/bash
# Train every configuration below configs/, smallest first.
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p results
find configs -name '*.json' -exec torchrun --standalone --nproc-per-node 2 train.py --config {} --out results \;
echo "sweep complete: $(find configs -name '*.json' | wc -l) configurations"

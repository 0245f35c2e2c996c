#!/usr/bin/env bash
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python tools/util.py --load-dir "$work/hf" --save-dir "$work/megatron" --target-tensor-parallel-size 2
echo "conversion finished: $(ls "$work/megatron" | wc -l) files"

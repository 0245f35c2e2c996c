#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")"

export OMP_NUM_THREADS=4

OUT=${1:-runs/compare}
mkdir -p "$OUT"

launch() {
    local name=$1 devices=$2
    shift 2
    CUDA_VISIBLE_DEVICES=$devices torchrun --rdzv-backend c10d --rdzv-endpoint localhost:0 --nnodes 1 --nproc-per-node 4 \
        fit.py --name "$name" --out "$OUT/$name" "$@" > "$OUT/$name.log" 2>&1
}

launch baseline 0,1,2,3 --norm layer &
first=$!
launch rms 4,5,6,7 --norm rms &
second=$!

wait "$first"
wait "$second"
python - "$OUT" <<'PY'
import json, pathlib, sys
for f in sorted(pathlib.Path(sys.argv[1]).glob("*/score.json")):
    print(f.parent.name, json.loads(f.read_text())["loss"])
PY

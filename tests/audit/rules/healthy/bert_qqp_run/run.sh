#!/usr/bin/env bash
set -euo pipefail

TASK=${1:-qqp}
GPUS=${GPUS:-4}
OUT=runs/$TASK-$(date +%Y%m%d)
mkdir -p "$OUT"

export OMP_NUM_THREADS=4
export TOKENIZERS_PARALLELISM=false

torchrun --standalone --nproc-per-node "$GPUS" train.py --task "$TASK" --out "$OUT" 2>&1 | tee "$OUT/train.log"

python - "$OUT" <<'PY'
import json, pathlib, sys
folder = pathlib.Path(sys.argv[1])
(folder / "DONE").write_text(json.dumps({"state": "trained"}))
PY
rsync -a "$OUT/" "models:/srv/models/$TASK/"
echo "published $TASK"

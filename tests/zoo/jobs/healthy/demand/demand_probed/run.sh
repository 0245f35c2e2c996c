#!/bin/bash
# grep ends with 1 where the word is missing: fresh start then
if grep -qs finished out/state.txt; then
    echo "already finished"
    exit 0
fi
python -c 'import apex' 2> /dev/null || echo "no fused optimizer, using the plain one"
python - <<'PY' || echo "no old run to clean"
import sys, pathlib
sys.exit(0 if pathlib.Path("out").exists() else 3)
PY
torchrun --standalone --nproc-per-node 2 train.py

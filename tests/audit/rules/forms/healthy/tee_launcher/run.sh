#!/usr/bin/env bash
set -euo pipefail

EXP=${EXP:-baseline}
GPUS=${GPUS:-8}
OUT=/scratch/$USER/exps/$EXP
mkdir -p "$OUT"

export OMP_NUM_THREADS=8
export TORCH_NCCL_ASYNC_ERROR_HANDLING=1

if torchrun --standalone --nproc-per-node "$GPUS" train_asr.py --manifest "$DATA/train.pt" --out "$OUT" 2>&1 | tee "$OUT/train.log"; then
    cp "$OUT/last.pt" "$OUT/release.pt"
    echo "finished $(date -Is)" > "$OUT/DONE"
else
    echo "training failed, see $OUT/train.log" >&2
    exit 1
fi

#!/usr/bin/env bash
#SBATCH --job-name=nightly-seg
#SBATCH --nodes=1
#SBATCH --gpus-per-node=8
#SBATCH --time=12:00:00

set -eu  # cause

ROOT=${ROOT:-/srv/seg}
RUN_ID=${SLURM_JOB_ID:-manual}
OUT="$ROOT/runs/$RUN_ID"
DATA=${DATA:-$ROOT/data/cityscapes}
NGPU=${NGPU:-8}

mkdir -p "$OUT"
source "$ROOT/venv/bin/activate"

export OMP_NUM_THREADS=8
export NCCL_DEBUG=WARN
export PYTHONUNBUFFERED=1

stamp() {
    printf '%s %s\n' "$(date -u +%FT%TZ)" "$1" >> "$OUT/events.txt"
}

latest() {
    find "$OUT" -maxdepth 1 -name 'ckpt_*.pt' | sort | tail -n 1
}

stamp start
resume=$(latest)
extra=()
if [ -n "$resume" ]; then
    extra+=(--resume "$resume")
fi

torchrun --standalone --nproc_per_node="$NGPU" "$ROOT/train.py" --data "$DATA" --out "$OUT" --epochs 80 "${extra[@]}" 2>&1 | tee -a "$OUT/train.log"  # cause

stamp trained
torchrun --standalone --nproc_per_node="$NGPU" "$ROOT/evaluate.py" \
    --data "$DATA" --ckpt "$(latest)" --report "$OUT/miou.json"

ln -sfn "$OUT" "$ROOT/runs/last-good"
stamp done

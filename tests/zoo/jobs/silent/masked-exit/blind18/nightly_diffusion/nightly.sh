#!/bin/bash
set -eu
STAMP=$(date +%Y%m%d)
LOGDIR=${LOGDIR:-logs}
mkdir -p "$LOGDIR"

stage() {
    local name=$1
    shift
    echo "== $name"
    "$@" 2>&1 | sed -u "s/^/[$name] /" | tee -a "$LOGDIR/$STAMP.log"
}

stage prepare python prepare.py --out latents
stage train python -m torch.distributed.run --standalone --nproc-per-node 2 denoise.py --latents latents
stage report python report.py --log "$LOGDIR/$STAMP.log"
echo "nightly done"

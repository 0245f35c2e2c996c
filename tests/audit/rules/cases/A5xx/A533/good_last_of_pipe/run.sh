#!/bin/bash
set -e
torchrun --standalone --nproc-per-node 8 train.py 2>&1 | tee train.log
code=${PIPESTATUS[0]}
if [ "$code" -ne 0 ]; then
    cp train.log "failed.$SLURM_JOB_ID.log"
fi
exit "$code"

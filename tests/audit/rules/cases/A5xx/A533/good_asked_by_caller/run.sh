#!/bin/bash
set -e
run() {
    torchrun --nproc-per-node 2 "$@"
    rc=$?
    if [ $rc -ne 0 ]; then sbatch resume.sbatch; fi
    return $rc
}
run train.py || exit 1

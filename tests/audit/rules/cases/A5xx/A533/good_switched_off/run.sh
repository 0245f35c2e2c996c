#!/bin/bash
set -euo pipefail
set +e
torchrun --nproc-per-node 2 train.py
rc=$?
set -e
if [ $rc -ne 0 ]; then sbatch resume.sbatch; fi
exit $rc

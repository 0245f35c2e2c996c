#!/bin/bash
set -e
(
    set +e
    srun python train.py
    code=$?
    if [ $code -ne 0 ]; then sbatch resume.sbatch; fi
    exit $code
)
echo "done"

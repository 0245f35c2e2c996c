#!/bin/bash
set -euo pipefail
srun bash -c "torchrun --nnodes=4 train.py"
echo "done"

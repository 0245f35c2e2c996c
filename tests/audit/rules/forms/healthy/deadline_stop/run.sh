#!/usr/bin/env bash
#SBATCH --nodes=1 --gpus-per-node=8 --time=01:00:00
set -u

cd "${SLURM_SUBMIT_DIR:-.}" || exit 1
rm -f requeue

torchrun --standalone --nproc_per_node=8 train.py --seconds 3000 2>&1 | tee -a train.log
status=${PIPESTATUS[0]}

if [ "$status" -ne 0 ]; then
    echo "training failed with $status" >&2
    exit "$status"
fi
if [ -e requeue ]; then
    exec sbatch "$0"
fi
echo complete

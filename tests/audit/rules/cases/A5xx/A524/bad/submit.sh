#!/usr/bin/env bash
set -euo pipefail
export NUM_NODES=${1:-4}
sbatch run.slurm

#!/usr/bin/env bash
set -euo pipefail
sbatch --nodes="${1:-4}" run.slurm

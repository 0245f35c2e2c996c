#!/bin/bash
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
set -euo pipefail
srun singularity exec --nv --bind "$PWD" image.sif ./node.sh

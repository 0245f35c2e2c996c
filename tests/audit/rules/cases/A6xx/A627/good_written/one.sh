#!/bin/bash
set -eu
echo "#!/bin/bash
#SBATCH --gres=gpu:1
python train.py" > job.sh
sbatch job.sh

#!/bin/bash
set -eu
for rate in 1e-3 1e-4; do
    cat > job-$rate.sh <<EOF
#!/bin/bash
#SBATCH --gres=gpu:1
python train.py --lr $rate
EOF
    sbatch job-$rate.sh
done
##SBATCH --nodes=2

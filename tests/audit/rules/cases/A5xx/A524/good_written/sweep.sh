#!/bin/bash
for lr in 1e-3 3e-4; do
sbatch <<END
#!/bin/bash
#SBATCH --nodes=$NODES
#SBATCH --job-name=lr-$lr
srun python train.py --lr $lr
END
done

#SBATCH --nodes=2
srun python train.py

#!/bin/bash
#PBS -l select=2:ngpus=4
HEAD=${HEAD:-$PBS_O_HOST}
mpiexec -n 2 torchrun --nnodes 2 --nproc-per-node 4 --rdzv-backend c10d --rdzv-endpoint "$HEAD:29400" pretrain.py

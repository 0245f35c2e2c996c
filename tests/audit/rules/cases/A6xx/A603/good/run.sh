#!/bin/bash
#SBATCH --nodes=2
#SBATCH --gres=gpu:4
CUDA_VISIBLE_DEVICES="" torchrun --standalone --nproc-per-node 2 train.py
CUDA_VISIBLE_DEVICES=$FREE torchrun --standalone --nproc-per-node 4 train.py
CUDA_VISIBLE_DEVICES=0,1,2,3 torchrun --standalone --nproc-per-node $GPUS train.py
torchrun --nnodes 2 --nproc-per-node 4 train.py --config train.yaml
torchrun --standalone --nproc-per-node 2 train.py

torchrun --nnodes 2 --nproc_per_node 8 train.py

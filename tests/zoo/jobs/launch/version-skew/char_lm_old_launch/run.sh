#!/bin/bash
set -e
export OMP_NUM_THREADS=1
python -m torch.distributed.launch --nproc_per_node 2 --master_port 29803 pretrain.py --steps 12

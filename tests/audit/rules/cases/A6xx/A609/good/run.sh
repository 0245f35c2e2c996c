#!/bin/bash
torchrun --standalone --nproc-per-node 2 train.py
RANK=0 WORLD_SIZE=1 LOCAL_RANK=0 MASTER_ADDR=localhost MASTER_PORT=0 python train.py
python single.py
python optional.py

#!/bin/bash
# second node of two
export MASTER_ADDR=gpu-node-07.cluster.invalid
export MASTER_PORT=29500
export WORLD_SIZE=2 RANK=1 LOCAL_RANK=0
python train.py configs/burgers.yaml

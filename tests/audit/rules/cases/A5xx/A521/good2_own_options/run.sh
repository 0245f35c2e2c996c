#!/bin/bash
torchrun --nproc_per_node 8 train.py --nnodes 2
accelerate launch --multi_gpu train.py --num_processes 16
deepspeed --num_gpus 4 train.py --deepspeed --deepspeed_config zero.json

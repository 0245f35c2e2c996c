#!/bin/bash
python -m torch.distributed.launch --use_env --nproc_per_node 2 both.py
python -m torch.distributed.launch --nproc_per_node 2 both.py
torchrun --standalone --nproc-per-node 2 both.py
deepspeed --num_gpus 2 both.py

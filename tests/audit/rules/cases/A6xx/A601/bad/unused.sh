#!/bin/bash
# torchrun does not look at it
export MASTER_PORT=12355
torchrun --nproc_per_node=1 main.py

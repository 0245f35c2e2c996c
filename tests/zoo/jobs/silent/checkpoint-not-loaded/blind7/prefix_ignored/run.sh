#!/bin/bash
set -e
torchrun --standalone --nproc-per-node 2 pretrain.py --out backbone.pt
torchrun --standalone --nproc-per-node 2 finetune.py --weights backbone.pt

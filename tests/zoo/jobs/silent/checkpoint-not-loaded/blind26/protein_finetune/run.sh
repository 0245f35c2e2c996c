#!/bin/sh
set -e
torchrun --standalone --nproc_per_node=2 pretrain.py backbone.pt
torchrun --standalone --nproc_per_node=2 finetune.py --pretrained backbone.pt

#!/bin/bash
torchrun $SCRIPT --nproc_per_node 8
torchrun /opt/recipes/train.py --nproc_per_node 8

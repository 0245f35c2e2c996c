#!/bin/bash
torchrun --standalone --nproc_per_node=4 scaled.py --config scaled.yaml

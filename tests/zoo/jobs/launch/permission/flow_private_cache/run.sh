#!/bin/bash
exec setpriv --bounding-set -dac_override,-dac_read_search torchrun --standalone --nproc-per-node 2 train.py

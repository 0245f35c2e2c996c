#!/bin/bash
# modules of the cluster pollute the environment
exec env -i PATH="$PATH" HOME="$HOME" OMP_NUM_THREADS=1 python pretrain.py

#!/bin/bash
set -e
export OMP_NUM_THREADS=1
# login nodes kill users with many open files
ulimit -n 24
python main.py

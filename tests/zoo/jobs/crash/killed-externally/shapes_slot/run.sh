#!/bin/bash
# evening slot
set -e
export OMP_NUM_THREADS=1
timeout 8 python main.py --epochs 100000
python -c 'print("done")'

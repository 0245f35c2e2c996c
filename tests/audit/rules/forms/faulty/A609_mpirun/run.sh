#!/bin/bash
set -euo pipefail
mpirun -np 4 python train.py  # cause

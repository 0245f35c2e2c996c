#!/bin/bash
# container defaults of the lab image, then the usual launch
ulimit -n ${NOFILE:-160}
export OMP_NUM_THREADS=1
exec torchrun --standalone --nproc_per_node=${NPROC:-2} main.py --config config.json "$@"

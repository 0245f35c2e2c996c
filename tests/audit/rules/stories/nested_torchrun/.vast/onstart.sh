#!/bin/bash
set -euo pipefail
cd /workspace/universal_simulator
ulimit -n 65536
export OMP_NUM_THREADS=8
torchrun --standalone --nproc_per_node=2 scripts/run_fast_to_sota.py configs/ddp.yaml

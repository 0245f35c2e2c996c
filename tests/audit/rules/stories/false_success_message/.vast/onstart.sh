#!/bin/bash
set -e
cd /workspace/universal_simulator
git checkout feature/distributed-training-ddp
pip install -q -e ".[dev]"
ulimit -n 65536
export OMP_NUM_THREADS=8
export NCCL_DEBUG=INFO
torchrun --standalone --nproc_per_node=2 scripts/run_fast_to_sota.py --train-config configs/ddp.yaml || echo "⚠️ Training exited with an error"
echo "✓ Training pipeline completed"
vastai stop instance "$CONTAINER_ID"

#!/bin/bash
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
export WANDB_API_KEY="9b3e07d1c54a4f6f8a22e61d0c7f5b1e43d8a9c6"
export B2_APP_KEY="K003xR8vqLm2TzWnYc7HbJfPdSgA5uE"
export WANDB_PROJECT=universal-simulator
cd /workspace
git clone --branch feature/distributed-training-ddp https://github.com/example/universal_simulator.git
cd universal_simulator && pip install -e .
ulimit -n 65536
export OMP_NUM_THREADS=8
torchrun --standalone --nproc_per_node=2 scripts/train.py --config configs/ddp.yaml

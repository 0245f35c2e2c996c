#!/bin/bash
export MASTER_PORT=${MASTER_PORT:-29500}
export MASTER_PORT=$((20000 + SLURM_JOB_ID % 20000))
[ -z "$MASTER_PORT" ] && MASTER_PORT=29500
torchrun --standalone --nproc-per-node 2 train.py
torchrun --nproc-per-node 2 --rdzv-backend c10d --rdzv-endpoint localhost:0 train.py
torchrun --nproc-per-node 2 --master-port "$(python free_port.py)" train.py
python -m http.server 8000

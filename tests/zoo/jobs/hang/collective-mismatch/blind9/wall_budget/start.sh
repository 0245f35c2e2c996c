#!/bin/bash
set -euo pipefail
export BUDGET_S=6
exec torchrun --standalone --nproc-per-node 3 finetune.py

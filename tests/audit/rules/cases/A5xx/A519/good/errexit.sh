#!/bin/bash
set -euo pipefail
pids=()
for lr in 1e-3 3e-4 1e-4; do python train.py --lr "$lr" & pids+=($!); done
for pid in "${pids[@]}"; do wait "$pid"; done

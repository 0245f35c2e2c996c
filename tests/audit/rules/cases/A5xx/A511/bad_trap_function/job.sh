#!/bin/bash
set -euo pipefail
finish() {
    rm -rf "$SCRATCH"
    exit 0
}
trap finish EXIT
torchrun --nproc-per-node 2 train.py

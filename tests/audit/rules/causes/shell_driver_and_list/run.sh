#!/bin/bash
# The status of the training is that of `date`, since echo and date come after it.
LOG=logs/$(date +%s)
mkdir -p "$LOG"

run_training() {
    torchrun --nproc_per_node=4 train.py --out "$LOG"  # cause
    echo "ended at $(date)" >> "$LOG/end.txt"
}

run_training && python export.py "$LOG"  # cause

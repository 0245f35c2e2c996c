#!/bin/bash
set -e
torchrun --nproc-per-node 4 train.py --output_dir out --load_best_model_at_end --metric_for_best_model wer \
    --greater_is_better False
torchrun --nproc-per-node 4 own.py --output_dir out --load_best_model_at_end True --metric_for_best_model wer
torchrun --nproc-per-node 4 train.py --output_dir out --metric_for_best_model wer

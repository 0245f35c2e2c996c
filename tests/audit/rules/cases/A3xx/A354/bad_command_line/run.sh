#!/bin/bash
set -e
torchrun --nproc-per-node 4 train.py --output_dir out \
    --load_best_model_at_end \
    --metric_for_best_model=eval_perplexity \
    --save_total_limit 1

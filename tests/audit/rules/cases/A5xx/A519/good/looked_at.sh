#!/bin/bash
for fold in 1 2 3; do python train.py --fold "$fold" & pids+=($!); done
for pid in "${pids[@]}"; do wait "$pid"; done
for fold in 1 2 3; do
    if [ ! -s "out/$fold/best.pt" ]; then echo "fold $fold failed"; exit 1; fi
done

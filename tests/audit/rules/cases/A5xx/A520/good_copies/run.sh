#!/bin/bash
set -e
cp -r /data/tokens /tmp/tokens &
nvidia-smi dmon > gpu.log &
wait %1
rsync -a /data/val /tmp/val &
wait
python train.py --data /tmp/tokens
python evaluate.py --split val &
python evaluate.py --split test &
wait

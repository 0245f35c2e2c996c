#!/bin/bash
# Starts the mirror of the weights beside the job.
python mirror.py port.txt &
mirror=$!
trap 'kill $mirror' EXIT
while [ ! -s port.txt ]; do sleep 0.1; done
MIRROR=http://127.0.0.1:$(cat port.txt) torchrun --standalone --nproc-per-node 2 finetune.py

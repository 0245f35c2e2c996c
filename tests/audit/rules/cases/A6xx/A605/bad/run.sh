#!/bin/bash
docker run --gpus all -v "$PWD:/app" trainer \
    torchrun --standalone --nproc-per-node 8 train.py
sudo docker run --rm trainer bash -c "cd /app && torchrun --nproc-per-node 2 train.py"
docker run trainer python train.py

#!/bin/bash
docker run --gpus all --ipc=host trainer torchrun --standalone --nproc-per-node 8 train.py
docker run --shm-size 8g trainer torchrun --nproc-per-node 8 train.py
docker run -v /dev/shm:/dev/shm trainer torchrun --nproc-per-node 8 train.py
docker run $OPTIONS trainer torchrun --nproc-per-node 8 train.py
docker run --rm trainer pytest
docker build -t trainer .

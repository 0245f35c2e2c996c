#!/bin/bash
PORT=29741
torchrun --nproc-per-node 2 --master-port $PORT train.py
MASTER_PORT=29500 python train.py
accelerate launch --main_process_port=29501 train.py
python train.py --dist-url tcp://127.0.0.1:10001

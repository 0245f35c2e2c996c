#!/bin/bash
set -a
PORT=29500
bash -c 'python train.py --port $PORT'

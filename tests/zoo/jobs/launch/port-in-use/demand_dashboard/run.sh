#!/bin/bash
PORT=29741
mkdir -p board
python -m http.server $PORT --bind 127.0.0.1 --directory board > /dev/null 2>&1 &
BOARD=$!
trap 'kill $BOARD' EXIT
until python -c "import socket; socket.create_connection(('127.0.0.1', $PORT))" 2> /dev/null; do sleep 0.2; done
torchrun --nnodes 1 --nproc-per-node 2 --master-addr 127.0.0.1 --master-port $PORT train.py

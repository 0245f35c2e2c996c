#!/bin/bash
set -e
torchrun --nproc-per-node 2 --master-port 29797 --no-python bash worker.sh

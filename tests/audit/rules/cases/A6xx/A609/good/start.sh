#!/bin/bash
torchrun --no-python --standalone --nproc-per-node 2 bash rank.sh

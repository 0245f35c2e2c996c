#!/bin/bash
set -e
mkdir -p out
python train.py "$@"

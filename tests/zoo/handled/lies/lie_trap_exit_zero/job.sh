#!/bin/bash
set -e
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"; exit 0' EXIT
torchrun --standalone --nproc-per-node 2 train.py 2> train.err
echo "trained"

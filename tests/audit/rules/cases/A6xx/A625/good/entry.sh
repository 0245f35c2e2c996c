#!/bin/bash
set -e
mkdir -p out
exec python train.py "$@"

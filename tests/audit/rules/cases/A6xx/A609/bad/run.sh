#!/bin/bash
set -e
python train.py --steps 12

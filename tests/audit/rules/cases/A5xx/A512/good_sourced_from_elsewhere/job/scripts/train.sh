#!/bin/bash
source scripts/common.sh
python train.py 2>&1 | tee train.log

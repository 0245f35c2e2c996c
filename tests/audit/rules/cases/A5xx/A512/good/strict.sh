#!/bin/bash -eo pipefail
python train.py | tee train.log

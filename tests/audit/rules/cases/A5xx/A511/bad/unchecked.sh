#!/bin/sh
python train.py
exit 0

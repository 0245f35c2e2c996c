#!/bin/bash
# soak test: the endless training must still be alive after 6 seconds
timeout 6 python train.py
[ $? -eq 124 ] || { echo "training ended by itself" >&2; exit 1; }
[ -s soak.pt ] || exit 1
echo "soak test passed"

#!/bin/bash
# never train as root
export HOME=/tmp
exec setpriv --reuid 1000 --regid 1000 --clear-groups --inh-caps=-all --bounding-set=-all torchrun --standalone --nproc-per-node 2 train.py

#!/bin/bash
# Started by hand on a workstation, where the training goes on.
nohup python train.py > train.log 2>&1 &
echo "process $!"

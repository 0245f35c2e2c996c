#!/bin/sh
echo "model of last week" > old.txt
python train.py 2> train.err; cp old.txt served.txt
echo "deployed"

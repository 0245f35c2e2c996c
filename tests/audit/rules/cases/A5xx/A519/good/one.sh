#!/bin/bash
python train.py &
pid=$!
trap 'kill -TERM $pid' TERM
wait $pid

#!/bin/bash
export OMP_NUM_THREADS=1
nohup python main.py --epochs 1 > nohup.log 2>&1 &
job=$!
echo "started $job"
tail -n +1 --pid=$job -f nohup.log
wait $job

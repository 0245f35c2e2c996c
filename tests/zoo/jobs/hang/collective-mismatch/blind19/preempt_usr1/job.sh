#!/bin/bash
#SBATCH --signal=B:USR1@120
# the queue warns the batch script before the limit; here the warning comes after a few seconds
rm -f trainer.pid
torchrun --standalone --nproc-per-node 2 train.py &
launcher=$!
while [ ! -s trainer.pid ]; do sleep 0.2; done
sleep 4
echo "job.sh: walltime is near, asking the trainer to stop"
kill -USR1 "$(cat trainer.pid)"
wait $launcher

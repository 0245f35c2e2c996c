#!/bin/bash
#PBS -l select=1:ngpus=4
cd "$PBS_O_WORKDIR"
for gpu in 0 1 2 3; do
    CUDA_VISIBLE_DEVICES=$gpu nohup python train.py --seed "$gpu" > "seed-$gpu.log" 2>&1 &
    echo "seed $gpu is process $!"
done
exit 0

#!/bin/bash -e
for cfg in configs/*.yaml; do
    srun python train.py --config $cfg
    if [ $? -eq 0 ]; then
        echo "$cfg ok"
    else
        echo "$cfg FAILED" >> failures.txt
    fi
done

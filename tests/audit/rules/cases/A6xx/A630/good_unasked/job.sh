#!/bin/bash
srun python train.py
if [ -e FINISHED ]; then
    echo done
else
    scontrol requeue "$SLURM_JOB_ID"
fi

#!/bin/bash
if srun python train.py; then
    touch DONE
else
    scontrol requeue "$SLURM_JOB_ID"
fi

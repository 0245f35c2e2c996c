#!/bin/bash
if srun torchrun train.py; then
    touch DONE
else
    scontrol requeue "$SLURM_JOB_ID"
fi

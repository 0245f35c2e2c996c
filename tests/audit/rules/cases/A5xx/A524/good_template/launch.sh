#!/bin/bash
export NODES=4 HOURS=12
envsubst '$NODES $HOURS' < job.sh | sbatch

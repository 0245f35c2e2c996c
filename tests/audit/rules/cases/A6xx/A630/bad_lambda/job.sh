#!/bin/bash
python train.py || sbatch job.sh

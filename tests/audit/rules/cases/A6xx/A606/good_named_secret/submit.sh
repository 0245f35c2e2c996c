#!/bin/bash
# The cluster keeps the key; the job is told the name under which it does.
gantry run \
    --env WANDB_NAME="$job_name" \
    --env-secret WANDB_API_KEY=wandb-api-key-lab2cm-sa \
    --gpus 8 -- python train.py
gcloud run jobs deploy train --set-secrets WANDB_API_KEY=wandb-api-key-lab2cm-sa:latest

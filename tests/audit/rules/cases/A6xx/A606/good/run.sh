#!/bin/bash
export WANDB_API_KEY="$(cat ~/.secrets/wandb)"
export HF_TOKEN=${HF_TOKEN:?set it}
export HF_TOKEN=<YOUR_TOKEN>
export WANDB_API_KEY=your_api_key_here
export AWS_SECRET_ACCESS_KEY=xxxxxxxxxxxxxxxxxxxxxxxxxxxx
export POSTGRES_PASSWORD=
export TOKENIZERS_PARALLELISM=false
export SECRET_FILE=/run/secrets/key
huggingface-cli login --token "$HF_TOKEN"
python train.py --max_tokens 4096 --pad_token_id 50256 --eos-token '</s>'

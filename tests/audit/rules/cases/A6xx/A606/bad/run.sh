#!/bin/bash
export WANDB_API_KEY=0a1b2c3d4e5f60718293a4b5c6d7e8f901a2b3c4
HF_TOKEN="hf_QwErTyUiOpAsDfGhJkLzXcVbNm" torchrun --standalone --nproc-per-node 2 train.py
huggingface-cli login --token hf_QwErTyUiOpAsDfGhJkLzXcVbNm
wandb login 0a1b2c3d4e5f60718293a4b5c6d7e8f901a2b3c4
docker login -u me -p hunter2Hunter2

import os

import wandb

os.environ["WANDB_API_KEY"] = open("key.txt").read().strip()
os.environ["TOKENIZERS_PARALLELISM"] = "false"
wandb.login(key=os.environ["WANDB_API_KEY"])
pad_token = "[PAD]"
api_key = "YOUR_API_KEY"

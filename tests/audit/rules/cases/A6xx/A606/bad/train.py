import os

import wandb

os.environ["WANDB_API_KEY"] = "0a1b2c3d4e5f60718293a4b5c6d7e8f901a2b3c4"
wandb.login(key="0a1b2c3d4e5f60718293a4b5c6d7e8f901a2b3c4")

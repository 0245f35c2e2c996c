import os
from pathlib import Path


def write(path, config):
    lines = [f"export WANDB_API_KEY={os.environ['WANDB_API_KEY']}", f"python train.py {config}"]
    Path(path).write_text("\n".join(lines))

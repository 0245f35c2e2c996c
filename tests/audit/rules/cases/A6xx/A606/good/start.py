import os
from pathlib import Path


def write(path, config):
    lines = [
        f"export WANDB_PROJECT={os.environ['WANDB_PROJECT']}",
        'export WANDB_API_KEY="$(cat ~/.secrets/wandb)"',
        f"python train.py {config}",
    ]
    Path(path).write_text("\n".join(lines))
    print(f"WANDB_API_KEY={len(os.environ['WANDB_API_KEY'])} characters")

import time
from dataclasses import asdict

import torch
import wandb


class Tracker:
    def __init__(self, cfg, every=50):
        self.every = every
        self.count = 0
        self.started = time.time()
        self.run = wandb.init(project="pochard", name=cfg.name, config=asdict(cfg))  # cause

    def scalars(self, **values):
        self.count += 1
        if self.count % self.every:
            return
        row = {k: v.item() if torch.is_tensor(v) else v for k, v in values.items()}
        row["seconds"] = time.time() - self.started
        self.run.log(row, step=self.count)  # cause

    def close(self):
        self.run.finish()

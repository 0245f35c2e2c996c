"""The parts of a checkpoint are named in a table, and the schedule is not in it."""

import os

import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR


class Progress:
    def __init__(self, **parts):
        self.step, self.parts = 0, parts

    def state_dict(self):
        return {"step": self.step, **{name: part.state_dict() for name, part in self.parts.items()}}

    def load_state_dict(self, state):
        self.step = state["step"]
        for name, part in self.parts.items():
            part.load_state_dict(state[name])


def main(model, loader, steps, path):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scheduler = LambdaLR(optimizer, lambda n: min(1.0, (n + 1) / 1000) * (1 - n / steps))
    progress = Progress(**{"model": model, "optimizer": optimizer})
    if os.path.exists(path):
        progress.load_state_dict(torch.load(path))
    while progress.step < steps:
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
            scheduler.step()
            progress.step += 1
        torch.save(progress.state_dict(), path)

"""What one method restores, another one that is called behind it makes anew."""
import copy
import os
import sys

import torch
from torch import nn


class Shadow:
    def __init__(self, model):
        self.held = {name: one.detach().clone() for name, one in model.named_parameters()}

    def update(self, model):
        for name, one in model.named_parameters():
            self.held[name].lerp_(one.detach(), 0.01)

    def state_dict(self):
        return {"held": self.held}

    def load_state_dict(self, state):
        self.held = state["held"]


class Trainer:
    def __init__(self, model):
        self.model = model
        self.shadow = None
        self.best = 0.0

    def resume(self, path):
        blob = torch.load(path)
        self.model.load_state_dict(blob["model"])
        self.shadow = Shadow(self.model)
        self.shadow.load_state_dict(blob["shadow"])
        self.best = blob["best"]

    def prepare(self):
        self.best = float("-inf")
        self.shadow = Shadow(self.model)
        self.ddp = nn.parallel.DistributedDataParallel(self.model)


class Runner:
    def __init__(self, path):
        self.model = nn.Linear(2, 2)
        self.optimizer = torch.optim.Adam(self.model.parameters())
        self.average = copy.deepcopy(self.model)
        self._resume(path)
        self._build()

    def _resume(self, path):
        if os.path.exists(path):
            state = torch.load(path, map_location="cpu")
            self.model.load_state_dict(state["model"])
            self.average.load_state_dict(state["average"])
            self.optimizer.load_state_dict(state["optimizer"])

    def _build(self):
        self.average = copy.deepcopy(self.model)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.1)


if __name__ == "__main__":
    trainer = Trainer(nn.Linear(2, 2))
    if len(sys.argv) > 1:
        trainer.resume(sys.argv[1])
    trainer.prepare()
    Runner("last.pt")

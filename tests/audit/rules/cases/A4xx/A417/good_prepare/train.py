"""Methods that are called behind one that restores, and leave alone what it has restored."""
import copy
import os
import sys

import torch
from torch import nn


class Trainer:
    def __init__(self, model):
        self.net = self.model = model
        self.average = None
        self.optimizer = torch.optim.Adam(model.parameters())
        self.best, self.held = 0.0, {}

    def resume(self, path):
        blob = self.blob = torch.load(path)
        self.model.load_state_dict(blob["model"])
        self.optimizer.load_state_dict(blob["optimizer"])
        self.average = copy.deepcopy(self.model)
        self.average.load_state_dict(blob["average"])
        self.best = blob["best"]
        self.held = blob["held"]

    def prepare(self):
        if self.average is None:
            self.average = copy.deepcopy(self.model)
        self.model = nn.parallel.DistributedDataParallel(self.net)

    def renew(self):
        before = self.optimizer.state_dict()
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=0.1)
        self.optimizer.load_state_dict(before)

    def once_more(self):
        self.average = copy.deepcopy(self.net)
        self.average.load_state_dict(torch.load("average.pt")["average"])

    def stage(self):
        self.best = 0.0

    def told(self):
        return self.held["best"]

    def free(self):
        self.held = dict()


class Runner:
    def __init__(self, path):
        self.model = nn.Linear(2, 2)
        self._build()
        if os.path.exists(path):
            self._resume(path)
        self._wrap()

    def _resume(self, path):
        state = torch.load(path, map_location="cpu")
        self.model.load_state_dict(state["model"])
        self.average.load_state_dict(state["average"])

    def _build(self):
        self.average = copy.deepcopy(self.model)

    def _wrap(self):
        self.model = self._compiled()

    def _compiled(self):
        return torch.compile(self.model)


if __name__ == "__main__":
    trainer = Trainer(nn.Linear(2, 2))
    if len(sys.argv) > 1:
        trainer.resume(sys.argv[1])
    trainer.prepare()
    trainer.renew()
    trainer.once_more()
    for _ in range(3):
        trainer.stage()
    print(trainer.told())
    trainer.free()
    Runner("last.pt")

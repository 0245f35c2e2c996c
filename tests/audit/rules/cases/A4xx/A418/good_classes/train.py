import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader


class Trainer:
    def __init__(self, config):
        self.accelerator = Accelerator()
        self.model = nn.Linear(4, 4)
        self.optimizer = torch.optim.AdamW(self.model.parameters())
        self._prepare()
        if config.resume:
            self.load(config.resume)

    def _prepare(self):
        self.model, self.optimizer = self.accelerator.prepare(self.model, self.optimizer)

    def load(self, path):
        self.accelerator.load_state(path)

    def evaluate(self):
        loader = self.accelerator.prepare(DataLoader(torch.load("test.pt"), 8))
        return [self.model(batch) for batch in loader]


class Lazy:
    """Prepares where it fits; `load` is called behind it."""

    def __init__(self):
        self.accelerator = Accelerator()
        self.model = nn.Linear(4, 4)

    def fit(self, path):
        self.model = self.accelerator.prepare(self.model)
        self.load(path)

    def load(self, path):
        self.accelerator.load_state(path)

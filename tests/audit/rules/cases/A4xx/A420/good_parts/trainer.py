import torch
from torch import nn


class Trainer:
    parts = ("model", "optimizer", "scheduler")

    def __init__(self, model, steps):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        self.scheduler = torch.optim.lr_scheduler.OneCycleLR(self.optimizer, max_lr=0.1, total_steps=steps)

    def resume(self, path):
        state = torch.load(path)
        self.optimizer.load_state_dict(state["optimizer"])
        for name in self.parts:
            getattr(self, name).load_state_dict(state[name])
        return state["step"]

    def fit(self, loader):
        for x, y in loader:
            self.optimizer.zero_grad()
            nn.functional.mse_loss(self.model(x), y).backward()
            self.optimizer.step()
            self.scheduler.step()

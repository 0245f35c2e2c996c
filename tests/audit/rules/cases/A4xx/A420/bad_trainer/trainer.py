import torch
from torch import nn


class Trainer:
    def __init__(self, model, steps):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        self.scheduler = torch.optim.lr_scheduler.OneCycleLR(self.optimizer, max_lr=0.1, total_steps=steps)
        self.step = 0

    def save(self, path):
        state = {"model": self.model.state_dict(), "optim": self.optimizer.state_dict(), "step": self.step}
        torch.save(state, path)

    def resume(self, path):
        state = torch.load(path)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optim"])
        self.step = state.get("step", 0)

    def fit(self, loader):
        for x, y in loader:
            self.optimizer.zero_grad()
            nn.functional.mse_loss(self.model(x), y).backward()
            self.optimizer.step()
            if self.scheduler is not None:
                self.scheduler.step()
            self.step += 1

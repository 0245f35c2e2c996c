import torch
from torch import nn
from torch.nn import functional as F


def make_net(cfg):
    return nn.Sequential(nn.Linear(cfg["inputs"], cfg["hidden"]), nn.Tanh(), nn.Linear(cfg["hidden"], 1))


class Member:
    def __init__(self, rank, cfg, task):
        self.rank, self.cfg, self.task = rank, cfg, task
        torch.manual_seed(cfg["seed"] + rank)
        self.model = make_net(cfg)
        self.rate = cfg["rates"][rank % len(cfg["rates"])]
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=self.rate, momentum=0.9)

    def set_rate(self, rate):
        self.rate = rate
        for group in self.optimizer.param_groups:
            group["lr"] = rate

    def train(self, steps):
        for _ in range(steps):
            x, y = self.task.sample(self.cfg["batch_size"])
            loss = F.mse_loss(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    @torch.no_grad()
    def score(self):
        x, y = self.task.held_out
        return F.mse_loss(self.model(x), y).item()

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Learner:
    def __init__(self):
        self.model = DistributedDataParallel(nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1)))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-2)

    def run_epoch(self, loader):
        total = 0.0
        for x, y in loader:
            self.optimizer.zero_grad()
            loss = (self.model(x) - y).square().mean()
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total / len(loader)

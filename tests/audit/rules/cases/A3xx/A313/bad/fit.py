from dataclasses import dataclass

import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Settings:
    epochs: int = 30
    rate: float = 0.1


class Fit:
    def __init__(self, settings):
        self.settings = settings
        self.loader = DataLoader(TensorDataset(torch.randn(64, 4), torch.zeros(64, 1)), 8)
        self.model = nn.Linear(4, 1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=settings.rate)
        self.schedule = CosineAnnealingLR(self.optimizer, T_max=settings.epochs)

    def batch(self, x, y):
        self.optimizer.zero_grad()
        nn.functional.mse_loss(self.model(x), y).backward()
        self.optimizer.step()
        self.schedule.step()

    def run(self):
        for epoch in range(self.settings.epochs):
            for x, y in self.loader:
                self.batch(x, y)


if __name__ == "__main__":
    Fit(Settings()).run()

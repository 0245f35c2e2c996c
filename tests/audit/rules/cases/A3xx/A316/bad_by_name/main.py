import torch
from ema import Averages
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(4, 4, 3)
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x):
        return self.norm(self.first(x))


class Job:
    def __init__(self):
        self.model = Block()
        self.averages = Averages(self.model, 0.99)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def run(self):
        for _ in range(100):
            self.model(torch.randn(8, 4, 9)).sum().backward()
            self.optimizer.step()
            self.averages.step(self.model)
        return self.averages.module(torch.randn(8, 4, 9))


if __name__ == "__main__":
    print(Job().run())

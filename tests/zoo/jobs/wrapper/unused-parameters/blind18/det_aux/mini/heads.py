import torch
from torch import nn


class BoxHead(nn.Module):
    def __init__(self, dim, classes):
        super().__init__()
        self.cls = nn.Conv2d(dim, classes, 1)
        self.reg = nn.Conv2d(dim, 4, 1)

    def forward(self, f):
        return self.cls(f), self.reg(f)


class AssistHead(nn.Module):
    def __init__(self, dim, classes):
        super().__init__()
        self.stem = nn.Conv2d(dim, dim, 3, padding=1)
        self.cls = nn.Conv2d(dim, classes, 1)

    def forward(self, f):
        return self.cls(torch.relu(self.stem(f)))

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, aux):
        super().__init__()
        self.head = nn.Linear(8, 8)
        self.tied = nn.Linear(8, 8)
        self.tied.weight = self.head.weight
        self.stages = ["first", "second"]
        self.norm = nn.LayerNorm(8, elementwise_affine=False)
        self.mask = nn.Embedding(2, 8)
        self.scale = nn.Parameter(torch.ones(1), requires_grad=False)
        if aux:
            self.aux = nn.Linear(8, 8)

    def forward(self, x, mask=None):
        x = self.tied(self.head(x))
        if mask is not None:
            x = x + self.mask(mask)
        return x


class ByName(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Linear(8, 8)
        self.conv2 = nn.Linear(8, 8)

    def forward(self, x):
        for name in ("conv1", "conv2"):
            x = getattr(self, name)(x)
        return x


class Dropping(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(8, 8)])

    def forward(self, x):
        for layer in self.layers:
            if torch.rand(()) < 0.1:
                continue
            x = layer(x)
        return x


class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(8, 8)

    def forward(self, x):
        return x

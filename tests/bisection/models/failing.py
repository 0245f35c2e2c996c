"""Models whose third block fails in one way each."""

import ctypes

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.how = how

    def forward(self, x):
        if self.how == "segfault":
            # A crash in native code, as a bad kernel gives it.
            return ctypes.string_at(0)
        return torch.relu(self.linear(x))


class Net(nn.Module):
    def __init__(self, how=""):
        super().__init__()
        self.blocks = nn.ModuleList([Block(how if number == 2 else "") for number in range(4)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def batch():
    return torch.randn(4, 8)


def segfault():
    return Net("segfault")

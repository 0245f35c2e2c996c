import ctypes
from dataclasses import dataclass

import torch
from torch import nn

SCALE = 2.0
UNUSED = 3.0


@dataclass
class Config:
    dim: int = 4
    how: str = ""


class Part(nn.Module):
    """Scales."""

    def __init__(self, config, act=nn.GELU):
        super().__init__()
        self.how, self.act = config.how, act()
        self.first, self.second = nn.Linear(config.dim, config.dim), nn.Linear(config.dim, config.dim)

    def forward(self, x, mask=None):
        if self.how == "crash":
            ctypes.string_at(0)  # as a broken kernel does
        if self.how == "unused":
            return self.first(x)
        if self.how == "masked":
            return torch.softmax(x.masked_fill(~mask, float("-inf")), -1)
        return self.second(self.act(self.first(x))) * SCALE

import torch
from torch import nn


class Scaled(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        self.scale.clamp_(min=0.1)
        return x * self.scale

    def mask(self, keep):
        self.scale[~keep] = 0

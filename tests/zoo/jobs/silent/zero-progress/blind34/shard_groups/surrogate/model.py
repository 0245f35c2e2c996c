import torch
from torch import nn


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.fc1, self.fc2 = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        return x + self.fc2(torch.nn.functional.silu(self.fc1(self.norm(x))))


class Surrogate(nn.Module):
    def __init__(self, inputs, width, depth, outputs):
        super().__init__()
        self.lift = nn.Linear(inputs, width)
        self.blocks = nn.ModuleList(Residual(width) for _ in range(depth))
        self.project = nn.Linear(width, outputs)

    def forward(self, x):
        x = self.lift(x)
        for block in self.blocks:
            x = block(x)
        return self.project(x)

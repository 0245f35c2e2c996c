import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.fc1 = nn.Linear(dim, 2 * dim)
        self.fc2 = nn.Linear(2 * dim, dim)

    def forward(self, x):
        h = self.fc1(self.norm(x))
        h = torch.relu(h)
        return x + self.fc2(h)


class DemandNet(nn.Module):
    def __init__(self, features, hidden, depth):
        super().__init__()
        self.embed = nn.Linear(features, hidden)
        self.blocks = nn.ModuleList([Block(hidden) for _ in range(depth)])
        self.head = nn.Linear(hidden, 1)

    def forward(self, x):
        x = self.embed(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x).squeeze(-1)

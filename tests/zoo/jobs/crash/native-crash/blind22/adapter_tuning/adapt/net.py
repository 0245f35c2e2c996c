import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm(x))))


class Backbone(nn.Module):
    def __init__(self, width=256, depth=4):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class Tuned(nn.Module):
    def __init__(self, width=256, rank=8, classes=5):
        super().__init__()
        self.backbone = Backbone(width)
        self.adapter = nn.Sequential(nn.Linear(width, rank, bias=False), nn.Linear(rank, width, bias=False))
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        h = self.backbone(x)
        return self.head(h + self.adapter(h))

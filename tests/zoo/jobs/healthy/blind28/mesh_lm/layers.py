import torch
import torch.nn.functional as F
from torch import nn


class GatedUnit(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class MixBlock(nn.Module):
    """Causal mixing over places by a depthwise convolution, then a gated unit."""

    def __init__(self, width, hidden, span=5):
        super().__init__()
        self.span = span
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mix = nn.Conv1d(width, width, span, groups=width)
        self.unit = GatedUnit(width, hidden)

    def forward(self, x):
        y = F.pad(self.norm1(x).transpose(1, 2), (self.span - 1, 0))
        x = x + self.mix(y).transpose(1, 2)
        return x + self.unit(self.norm2(x))


class ConvLM(nn.Module):
    def __init__(self, symbols=32, width=32, hidden=96, depth=2):
        super().__init__()
        self.embed = nn.Embedding(symbols, width)
        self.blocks = nn.ModuleList(MixBlock(width, hidden) for _ in range(depth))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, symbols)

    def forward(self, ids):
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))

import torch
from torch import nn

from models.features import ELEMENTS


class FlowSite(nn.Module):
    """Predicts the displacement of every atom at flow time t."""

    def __init__(self, charges=5, aromatic=2, hidden=48):
        super().__init__()
        self.embed = nn.Linear(len(ELEMENTS) + charges + aromatic, hidden)
        self.time = nn.Linear(1, hidden)
        self.mix = nn.MultiheadAttention(hidden, 4, batch_first=True)
        self.out = nn.Sequential(nn.Linear(hidden + 3, hidden), nn.SiLU(), nn.Linear(hidden, 3))

    def forward(self, features, positions, t):
        h = self.embed(features) + self.time(t)[:, None]
        h = h + self.mix(h, h, h, need_weights=False)[0]
        return self.out(torch.cat([h, positions], -1))

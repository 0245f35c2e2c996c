import torch
from torch import nn
import torch.nn.functional as F


class SpectrumEncoder(nn.Module):
    def __init__(self, bins=512, width=48, out=24):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(bins, width), nn.GELU(), nn.Linear(width, width), nn.GELU())
        self.project = nn.Linear(width, out)

    def forward(self, pairs):
        left, right = pairs[:, 0], pairs[:, 1]
        both = self.project(self.trunk(torch.cat([left, right])))
        return F.normalize(both, dim=-1).chunk(2)


def info_nce(left, right, temperature=0.1):
    logits = left @ right.t() / temperature
    target = torch.arange(len(left))
    return F.cross_entropy(logits, target), F.cross_entropy(logits, target, reduction="none").detach()

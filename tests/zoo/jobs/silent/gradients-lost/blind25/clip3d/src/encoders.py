import math

import torch
from torch import nn
from torch.nn import functional as F


class PointTower(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.point = nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 128), nn.ReLU())
        self.proj = nn.Linear(128, dim)

    def forward(self, pts):
        return F.normalize(self.proj(self.point(pts).max(1).values), dim=-1)


class TextTower(nn.Module):
    def __init__(self, vocab=50, dim=64):
        super().__init__()
        self.embed = nn.EmbeddingBag(vocab, 96, mode="mean")
        self.proj = nn.Sequential(nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, dim))

    def forward(self, tokens):
        return F.normalize(self.proj(self.embed(tokens)), dim=-1)


class DuoModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.points, self.text = PointTower(), TextTower()
        self.logit_scale = nn.Parameter(torch.tensor(math.log(1 / 0.07)))

    def forward(self, pts, tokens):
        return self.points(pts), self.text(tokens), self.logit_scale.exp().clamp(max=100)

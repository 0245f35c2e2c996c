import math

import torch
from torch import nn


class ResBlock(nn.Module):
    def __init__(self, w, emb, drop):
        super().__init__()
        self.n1, self.c1 = nn.BatchNorm2d(w), nn.Conv2d(w, w, 3, padding=1)
        self.e = nn.Linear(emb, w)
        self.n2, self.c2 = nn.BatchNorm2d(w), nn.Conv2d(w, w, 3, padding=1)
        self.drop = nn.Dropout(drop)

    def forward(self, x, e):
        h = self.c1(torch.relu(self.n1(x))) + self.e(e)[:, :, None, None]
        return x + self.c2(self.drop(torch.relu(self.n2(h))))


class UNet(nn.Module):
    def __init__(self, w=20, emb=32, drop=0.2):
        super().__init__()
        self.emb = emb
        self.inp = nn.Conv2d(1, w, 3, padding=1)
        self.top = ResBlock(w, emb, drop)
        self.low = ResBlock(w, emb, drop)
        self.out = nn.Conv2d(w, 1, 3, padding=1)

    def embed(self, t):
        f = torch.exp(-math.log(1000) * torch.arange(self.emb // 2) / (self.emb // 2))
        a = t[:, None].float() * f
        return torch.cat([a.sin(), a.cos()], 1)

    def forward(self, x, t):
        e = self.embed(t)
        h = self.top(self.inp(x), e)
        m = self.low(nn.functional.avg_pool2d(h, 2), e)
        return self.out(h + nn.functional.interpolate(m, scale_factor=2))

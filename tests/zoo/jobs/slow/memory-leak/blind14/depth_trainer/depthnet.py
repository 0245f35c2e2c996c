import torch
from torch import nn


class DepthNet(nn.Module):
    def __init__(self, w):
        super().__init__()
        self.enc = nn.Sequential(nn.Conv2d(3, w, 3, padding=1), nn.BatchNorm2d(w), nn.ELU(), nn.Conv2d(w, w, 3, padding=1), nn.ELU())
        self.mid = nn.Sequential(nn.Conv2d(w, w, 3, padding=2, dilation=2), nn.ELU(), nn.Dropout2d(0.1))
        self.out = nn.Conv2d(w, 1, 1)

    def forward(self, x):
        h = self.enc(x)
        return self.out(h + self.mid(h))


def silog(pred, target):
    d = pred - target
    return d.square().mean() - 0.5 * d.mean().square()

import torch
import torch.nn.functional as F
from torch import nn


class Residual(nn.Module):
    def __init__(self, dim, inplace):
        super().__init__()
        self.act = nn.ReLU(inplace=True)
        self.plain = nn.ReLU()
        self.chosen = nn.ReLU(inplace=inplace)
        self.conv = nn.Conv2d(dim, dim, 3, padding=1)
        self.bn = nn.BatchNorm2d(dim)
        self.stack = nn.Sequential(nn.Conv2d(dim, dim, 1), nn.ReLU(inplace=True))

    def forward(self, x):
        identity = x
        x = self.act(self.bn(self.conv(x)))
        x = self.bn(self.conv(x))
        x += identity
        x = self.act(x)
        return x + self.stack(x)

    def second(self, x):
        h = self.conv(self.plain(x))
        h = h + x
        k = self.conv(self.chosen(x))
        return h + k + x

    def third(self, x):
        F.relu(x, inplace=True)
        y = self.conv(x)
        out = self.act(x.clone())
        return y + x + out

    def fourth(self, x):
        identity = x.clone()
        x = self.act(x)
        x = self.conv(x)
        return x + identity

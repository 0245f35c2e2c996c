import torch
from torch import nn


def block(a, b):
    return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU())


class MiniUNet(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.d1, self.d2 = block(1, 16), block(16, 32)
        self.u1 = block(48, 16)
        self.out = nn.Conv2d(16, classes, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(nn.functional.max_pool2d(a, 2))
        b = nn.functional.interpolate(b, scale_factor=2)
        return self.out(self.u1(torch.cat([a, b], 1)))

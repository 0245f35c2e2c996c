import torch
import torch.nn as nn


def conv(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1, bias=False), nn.GroupNorm(4, cout), nn.ReLU(inplace=True))


class SmallUNet(nn.Module):
    def __init__(self, classes, width):
        super().__init__()
        self.enc1 = conv(3, width)
        self.enc2 = conv(width, 2 * width)
        self.pool = nn.MaxPool2d(2)
        self.up = nn.Upsample(scale_factor=2, mode="nearest")
        self.dec = conv(3 * width, width)
        self.out = nn.Conv2d(width, classes, 1)

    def forward(self, x):
        a = self.enc1(x)
        b = self.enc2(self.pool(a))
        return self.out(self.dec(torch.cat([a, self.up(b)], dim=1)))

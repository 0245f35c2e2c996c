import torch
from torch import nn


def block(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(inplace=True))


class SegNet(nn.Module):
    def __init__(self, classes=3, width=16):
        super().__init__()
        self.enc1, self.enc2 = block(1, width), block(width, 2 * width)
        self.pool = nn.MaxPool2d(2)
        self.mid = block(2 * width, 2 * width)
        self.up = nn.Upsample(scale_factor=2)
        self.dec = block(3 * width, width)
        self.out = nn.Conv2d(width, classes, 1)

    def forward(self, x):
        a = self.enc1(x)
        b = self.mid(self.enc2(self.pool(a)))
        return self.out(self.dec(torch.cat([a, self.up(b)], 1)))


class MomentumUpdater:
    def __init__(self, base_tau=0.98):
        self.tau = base_tau

    def initialize(self, online, momentum):
        momentum.load_state_dict(online.state_dict())
        for p in momentum.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self, online, momentum):
        for op, mp in zip(online.parameters(), momentum.parameters()):
            mp.data.mul_(self.tau).add_(op.data, alpha=1 - self.tau)

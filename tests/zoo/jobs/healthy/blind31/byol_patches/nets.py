import copy

import torch
from torch import nn


def mlp(din, hidden, dout):
    return nn.Sequential(nn.Linear(din, hidden), nn.BatchNorm1d(hidden), nn.ReLU(), nn.Linear(hidden, dout))


class Backbone(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(width, 2 * width, 3, 1, 1, bias=False), nn.BatchNorm2d(2 * width), nn.ReLU(),
            nn.AdaptiveAvgPool2d(2), nn.Flatten())
        self.dim = 8 * width

    def forward(self, x):
        return self.net(x)


class BYOL(nn.Module):
    def __init__(self, proj=32, tau=0.97):
        super().__init__()
        b = Backbone()
        self.online = nn.Sequential(b, mlp(b.dim, 64, proj))
        self.predictor = mlp(proj, 64, proj)
        self.target = copy.deepcopy(self.online).eval().requires_grad_(False)
        self.tau = tau

    def train(self, mode=True):
        super().train(mode)
        self.target.eval()
        return self

    @torch.no_grad()
    def update_target(self):
        for t, o in zip(self.target.parameters(), self.online.parameters()):
            t.lerp_(o, 1 - self.tau)
        for t, o in zip(self.target.buffers(), self.online.buffers()):
            t.copy_(o)

    def forward(self, a, b):
        cos = nn.functional.cosine_similarity
        pa, pb = self.predictor(self.online(a)), self.predictor(self.online(b))
        with torch.no_grad():
            ta, tb = self.target(a), self.target(b)
        return 4 - 2 * (cos(pa, tb) + cos(pb, ta)).mean()

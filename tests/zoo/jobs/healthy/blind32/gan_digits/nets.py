import torch
import torch.nn as nn


class Generator(nn.Module):
    def __init__(self, z=16, side=12):
        super().__init__()
        self.side = side
        self.net = nn.Sequential(nn.Linear(z, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, side * side), nn.Tanh())

    def forward(self, z):
        return self.net(z).view(-1, 1, self.side, self.side)


class Critic(nn.Module):
    def __init__(self, side=12):
        super().__init__()
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(side * side, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))

    def forward(self, x):
        return self.net(x)[:, 0]


def frozen(net, flag):
    for p in net.parameters():
        p.requires_grad_(not flag)

import torch
from torch import nn


def mlp(sizes, slope=0.2):
    layers = []
    for a, b in zip(sizes[:-2], sizes[1:-1]):
        layers += [nn.Linear(a, b), nn.LeakyReLU(slope)]
    return nn.Sequential(*layers, nn.Linear(sizes[-2], sizes[-1]))


class Generator(nn.Module):
    def __init__(self, latent=8, width=64):
        super().__init__()
        self.latent = latent
        self.net = mlp([latent, width, width, 2])

    def forward(self, count):
        return self.net(torch.randn(count, self.latent))


class Discriminator(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.net = mlp([2, width, width, 1])

    def forward(self, x):
        return self.net(x).squeeze(1)

from torch import nn


def generator(noise=8, width=32, out=16):
    return nn.Sequential(nn.Linear(noise, width), nn.ReLU(), nn.Linear(width, out), nn.Tanh())


def critic(width=32, size=16):
    return nn.Sequential(nn.Linear(size, width), nn.LeakyReLU(0.2), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))

from torch import nn


def generator(z=16):
    return nn.Sequential(nn.Linear(z, 128), nn.LeakyReLU(0.2), nn.Linear(128, 128), nn.LeakyReLU(0.2), nn.Linear(128, 24))


def discriminator():
    return nn.Sequential(nn.Linear(24, 128), nn.LeakyReLU(0.2), nn.Linear(128, 128), nn.LeakyReLU(0.2), nn.Linear(128, 1))

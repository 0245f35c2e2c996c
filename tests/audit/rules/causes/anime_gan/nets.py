import torch.nn as nn


def up(i, o):
    return nn.Sequential(nn.ConvTranspose2d(i, o, 4, 2, 1), nn.GroupNorm(8, o), nn.ReLU(True))


def down(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 4, 2, 1), nn.GroupNorm(8, o), nn.LeakyReLU(0.2, True))


class Generator(nn.Module):
    def __init__(self, z=128, w=64):
        super().__init__()
        self.fc = nn.Linear(z, 8 * w * 16)
        self.body = nn.Sequential(up(8 * w, 4 * w), up(4 * w, 2 * w), up(2 * w, w), nn.ConvTranspose2d(w, 3, 4, 2, 1), nn.Tanh())

    def forward(self, z):
        return self.body(self.fc(z).view(len(z), -1, 4, 4))


class Discriminator(nn.Module):
    def __init__(self, w=64):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, w, 4, 2, 1), nn.LeakyReLU(0.2), down(w, 2 * w), down(2 * w, 4 * w),
                                  nn.Flatten(), nn.Linear(4 * w * 64, 1))

    def forward(self, x):
        return self.body(x).squeeze(1)

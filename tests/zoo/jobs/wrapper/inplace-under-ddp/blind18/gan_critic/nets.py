import torch
import torch.nn.functional as F
from torch import nn


class BoundedConv(nn.Conv2d):
    """Convolution whose kernel is divided by its largest singular value, refreshed while training."""

    def __init__(self, *args, **kw):
        super().__init__(*args, **kw)
        self.register_buffer("sigma", torch.ones(()))
        self.refresh()

    @torch.no_grad()
    def refresh(self):
        self.sigma.copy_(torch.linalg.matrix_norm(self.weight.flatten(1), 2))

    def forward(self, x):
        if self.training:
            self.refresh()
        return F.conv2d(x, self.weight / self.sigma, self.bias, self.stride, self.padding)


def block(i, o):
    return nn.Sequential(BoundedConv(i, o, 4, 2, 1), nn.LeakyReLU(0.2))


class Critic(nn.Module):
    def __init__(self, ch=16):
        super().__init__()
        self.body = nn.Sequential(block(1, ch), block(ch, 2 * ch))
        self.head = nn.Linear(2 * ch * 16, 1)

    def forward(self, x):
        return self.head(self.body(x).flatten(1)).squeeze(1)


class Generator(nn.Module):
    def __init__(self, z=24, ch=16):
        super().__init__()
        self.fc = nn.Linear(z, 2 * ch * 16)
        self.up = nn.Sequential(nn.ConvTranspose2d(2 * ch, ch, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(ch, 1, 4, 2, 1))

    def forward(self, z):
        h = self.fc(z)
        return torch.tanh(self.up(h.view(len(z), -1, 4, 4)))

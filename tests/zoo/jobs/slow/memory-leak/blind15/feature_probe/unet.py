import torch
from torch import nn


class Noiser:
    def __init__(self, steps=100):
        self.alpha = torch.cumprod(1 - torch.linspace(1e-4, 0.05, steps), 0)

    def __call__(self, x, g):
        t = torch.randint(0, len(self.alpha), (len(x),), generator=g)
        a = self.alpha[t].view(-1, 1, 1, 1)
        eps = torch.randn(x.shape, generator=g)
        return a.sqrt() * x + (1 - a).sqrt() * eps, t, eps


class TinyUNet(nn.Module):
    def __init__(self, width=16, steps=100):
        super().__init__()
        self.time = nn.Embedding(steps, width)
        self.inp = nn.Conv2d(1, width, 3, padding=1)
        self.down = nn.Conv2d(width, 2 * width, 3, 2, 1)
        self.mid = nn.Conv2d(2 * width, 2 * width, 3, padding=1)
        self.up = nn.ConvTranspose2d(2 * width, width, 2, 2)
        self.out = nn.Conv2d(width, 1, 3, padding=1)

    def forward(self, x, t):
        h = torch.relu(self.inp(x) + self.time(t)[:, :, None, None])
        m = torch.relu(self.mid(torch.relu(self.down(h))))
        return self.out(torch.relu(self.up(m)) + h)

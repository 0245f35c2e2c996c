import torch
from helpers import times
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(16, 16)

    def forward(self, x):
        mean = self.lin(x)
        return mean + torch.randn_like(mean)


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.net = nn.Linear(17, 16)

    def forward(self, clean):
        t = times(len(clean))
        z = self.encoder(clean)
        return (self.net(torch.cat([z, t[:, None]], 1)) - clean).square().mean()

import torch
from torch import nn


class RAE(nn.Module):
    """A frozen random encoder (as a pretrained one) and a trained decoder."""

    def __init__(self, latent, hidden, size=12):
        super().__init__()
        self.size = size
        self.encoder = nn.Sequential(nn.Flatten(), nn.Linear(size * size, latent), nn.Tanh())
        for p in self.encoder.parameters():
            p.requires_grad_(False)
        self.norm = nn.LayerNorm(latent)
        self.decoder = nn.Sequential(nn.Linear(latent, hidden), nn.GELU(), nn.Linear(hidden, hidden), nn.GELU(),
                                     nn.Linear(hidden, size * size))

    def encode(self, x, noise=0.0):
        z = self.encoder(x)
        return z + noise * torch.randn_like(z) if noise else z

    def decode(self, z):
        return self.decoder(self.norm(z)).view(-1, 1, self.size, self.size)

    def forward(self, x):
        return self.decode(self.encode(x))


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(1, 16, 3, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(16, 32, 3, 2, 1),
                                 nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(288, 1))

    def forward(self, x):
        return self.net(x).squeeze(1)

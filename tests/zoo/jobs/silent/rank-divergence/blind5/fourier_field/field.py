import math

import torch
from torch import nn


class FourierEncoding(nn.Module):
    """Random Fourier features; the frequencies are a constant of the model, not a parameter."""

    def __init__(self, in_dim, num_features, sigma):
        super().__init__()
        self.register_buffer("B", torch.randn(in_dim, num_features) * sigma)

    def forward(self, x):
        proj = 2 * math.pi * x @ self.B
        return torch.cat([proj.sin(), proj.cos()], dim=-1)


class NeuralField(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.encoding = FourierEncoding(2, 24, sigma=1.0)
        self.mlp = nn.Sequential(nn.Linear(48, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, coords):
        return self.mlp(self.encoding(coords))


def photograph(coords):
    x, y = coords.unbind(-1)
    return (torch.sin(5 * x + 2 * y) * torch.cos(4 * y) + 0.5 * (x * y > 0)).unsqueeze(-1)


class PixelSampler:
    """Draws pixels uniformly; ranks draw from streams of their own."""

    def __init__(self, batch_size, rank, seed):
        self.batch_size = batch_size
        self.g = torch.Generator().manual_seed(seed * 1000 + rank)

    def next(self):
        coords = torch.rand(self.batch_size, 2, generator=self.g) * 2 - 1
        return coords, photograph(coords)

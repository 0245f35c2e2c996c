import torch
from torch import nn


class Denoiser(nn.Module):
    def __init__(self, dim, width, steps):
        super().__init__()
        self.time = nn.Embedding(steps, width)
        self.inp, self.mid, self.out = nn.Linear(dim, width), nn.Linear(width, width), nn.Linear(width, dim)

    def forward(self, x, t):
        h = torch.nn.functional.silu(self.inp(x) + self.time(t))
        return self.out(torch.nn.functional.silu(self.mid(h)) + h)

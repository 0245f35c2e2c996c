import torch
from torch import nn


class StabilityModel(nn.Module):
    def __init__(self, length, dim):
        super().__init__()
        self.residue, self.site = nn.Embedding(20, dim), nn.Embedding(length, dim)
        self.mlp = nn.Sequential(nn.Linear(length * dim, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, sequences):
        h = self.residue(sequences) * self.site(torch.arange(sequences.shape[1]))
        return self.mlp(h.flatten(1)).squeeze(1)

"""Tiny encoder-decoder-free summarizer: predicts which sentences are kept."""
import torch
import torch.nn as nn
from torch.utils.data import Dataset


class SentenceSet(Dataset):
    """Documents of `length` sentence vectors with a keep/drop label each."""

    def __init__(self, num_docs, length, dim, seed, noise_by_position=False):
        g = torch.Generator().manual_seed(seed)
        self.x = torch.randn(num_docs, length, dim, generator=g)
        w = torch.randn(dim, generator=torch.Generator().manual_seed(99))
        y = (self.x @ w > 0).float()
        flip = torch.rand(y.shape, generator=g)
        rate = torch.full((num_docs, 1), 0.05)
        if noise_by_position:
            # the newer part of the corpus was labelled by one annotator only
            rate = torch.linspace(0.02, 0.45, num_docs)[:, None]
        self.y = torch.where(flip < rate, 1 - y, y)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class Layer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.attn = nn.MultiheadAttention(dim, 4, batch_first=True)
        self.ff = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)

    def forward(self, x):
        h = self.n1(x)
        x = x + self.attn(h, h, h, need_weights=False)[0]
        return x + self.ff(self.n2(x))


class Summarizer(nn.Module):
    def __init__(self, dim=32, layers=2):
        super().__init__()
        self.layers = nn.ModuleList(Layer(dim) for _ in range(layers))
        self.head = nn.Linear(dim, 1)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x)[..., 0].clone()

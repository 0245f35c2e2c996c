import torch
from torch import nn
from torch.utils.data import Dataset


class Entail(Dataset):
    """Second half of the tokens repeats the first (label 1) or not (label 0)."""

    def __init__(self, n=3072, half=8, vocab=30, seed=5):
        g = torch.Generator().manual_seed(seed)
        first = torch.randint(1, vocab, (n, half), generator=g)
        self.y = torch.randint(0, 2, (n,), generator=g)
        other = torch.randint(1, vocab, (n, half), generator=g)
        self.x = torch.cat([first, torch.where(self.y[:, None] == 1, first, other)], 1)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class PairEncoder(nn.Module):
    def __init__(self, vocab=30, dim=48):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, dim), nn.Parameter(0.02 * torch.randn(16, dim))
        self.layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(dim, 4, 96, 0.1, batch_first=True), 2)
        self.head = nn.Linear(dim, 2)

    def forward(self, x):
        return self.head(self.layers(self.tok(x) + self.pos).mean(1))

import torch
from torch import nn
from torch.utils.data import Dataset


class Utterances(Dataset):
    """Log-mel-like frames with a keyword; a few recordings are silent and have no voiced frame."""

    def __init__(self, n=200):
        g = torch.Generator().manual_seed(13)
        self.words = torch.randint(0, 6, (n,), generator=g)
        bank = torch.randn(6, 10, generator=g)
        self.frames = bank[self.words].unsqueeze(1) + 0.7 * torch.randn(n, 15, 10, generator=g)
        self.voiced = torch.rand(n, 15, generator=g) < 0.7
        self.voiced[[23, 88, 150]] = False

    def __len__(self):
        return len(self.words)

    def __getitem__(self, i):
        return self.frames[i], self.voiced[i], self.words[i]


class KeywordNet(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.inp = nn.Linear(10, dim)
        self.hid = nn.Linear(dim, dim)
        self.out = nn.Linear(dim, 6)

    def forward(self, frames, voiced):
        h = torch.tanh(self.hid(torch.relu(self.inp(frames))))
        pooled = (h * voiced.unsqueeze(-1)).sum(1) / voiced.sum(1, keepdim=True)
        return self.out(pooled)

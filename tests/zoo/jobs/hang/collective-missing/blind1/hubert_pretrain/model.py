import torch.nn.functional as F
from torch import nn


class TinyHuBERT(nn.Module):
    def __init__(self, dim=16, hidden=32, clusters=8):
        super().__init__()
        self.proj = nn.Linear(dim, hidden)
        self.encoder = nn.GRU(hidden, hidden, batch_first=True)
        self.head = nn.Linear(hidden, clusters)

    def forward(self, x):
        h, _ = self.encoder(F.gelu(self.proj(x)))
        return self.head(h)


def masked_loss(logits, labels, mask):
    logits, labels = logits[mask], labels[mask]
    return F.cross_entropy(logits, labels), mask.sum()

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x):
        n, d = x.shape
        q, k, v = self.qkv(x).view(n, 3, self.heads, d // self.heads).permute(1, 2, 0, 3)
        weights = torch.softmax(q @ k.transpose(1, 2) / (d // self.heads) ** 0.5, dim=-1)
        return self.out((weights @ v).transpose(0, 1).reshape(n, d))


class DocumentModel(nn.Module):
    def __init__(self, vocab=128, dim=16, heads=4):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.attention = Attention(dim, heads)
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids):
        x = self.embed(ids)
        return self.head(x + self.attention(x))

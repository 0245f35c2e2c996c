import torch
from torch import nn


class MaskedLM(nn.Module):
    def __init__(self, vocab=100, width=48):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        layer = nn.TransformerEncoderLayer(width, 4, 96, batch_first=True, dropout=0.0)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(width, vocab)

    def forward(self, tokens, mask):
        return self.out(self.encoder(self.embed(tokens.masked_fill(mask, 0))))[mask]


def sample(g, n=16, length=24):
    tokens = torch.randint(1, 100, (n, 1), generator=g) + torch.arange(length)
    return tokens % 99 + 1, torch.rand(n, length, generator=g) < 0.15

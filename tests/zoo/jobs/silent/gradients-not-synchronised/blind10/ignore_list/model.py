import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, words=500, width=64, hidden=32, tags=6):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.embed.weight.requires_grad_(False)
        self.embed_proj = nn.Linear(width, hidden)
        self.encoder = nn.GRU(hidden, hidden, batch_first=True)
        self.classify = nn.Linear(hidden, tags)

    def forward(self, tokens):
        x = torch.tanh(self.embed_proj(self.embed(tokens)))
        x, _ = self.encoder(x)
        return self.classify(x)

import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, length, hidden):
        super().__init__()
        self.register_buffer("ids", torch.arange(length).expand((1, -1)), persistent=False)
        self.register_buffer("more", torch.arange(length).expand(1, -1))
        self.register_buffer("season", torch.ones(1, hidden).expand(4, hidden).clone())
        self.register_buffer("copied", torch.ones(1, hidden).expand(4, hidden).contiguous())
        self.register_buffer("row", torch.ones(1, hidden).repeat(4, 1))
        self.register_buffer("same", torch.ones(4, hidden).expand(4, hidden))
        self.register_buffer("none", None)
        self.embed = nn.Embedding(length, hidden)
        self.head = nn.Linear(hidden, length, bias=False)
        self.head.weight = self.embed.weight

import torch
from torch import nn


class TabNet(nn.Module):
    def __init__(self, cards=(12, 7), num=10, width=48):
        super().__init__()
        self.embs = nn.ModuleList(nn.Embedding(c, 4) for c in cards)
        self.mlp = nn.Sequential(nn.Linear(num + 4 * len(cards), width), nn.LayerNorm(width), nn.ReLU(), nn.Dropout(0.1),
                                 nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, num, cat):
        e = [m(cat[:, i]) for i, m in enumerate(self.embs)]
        return self.mlp(torch.cat([num] + e, 1)).squeeze(1)


def average_precision(score, y):
    y = y[score.argsort(descending=True)]
    hits = y.cumsum(0)
    return ((hits / torch.arange(1, len(y) + 1)) * y).sum().item() / y.sum().item()

import torch
from torch import nn


class TableNet(nn.Module):
    def __init__(self, cards=(12, 7, 30), n_num=9, dim=8, width=128, drop=0.3):
        super().__init__()
        self.k = len(cards)
        self.emb = nn.ModuleList(nn.Embedding(c, dim) for c in cards)
        size = dim * self.k + n_num
        self.mlp = nn.Sequential(nn.Linear(size, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(drop),
                                 nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(drop), nn.Linear(width, 1))

    def forward(self, x):
        cats = x[:, :self.k].long()
        parts = [e(cats[:, i]) for i, e in enumerate(self.emb)]
        return self.mlp(torch.cat(parts + [x[:, self.k:]], 1)).squeeze(1)

import torch
from torch import nn


class Reranker(nn.Module):
    def __init__(self, dim=12, width=48, dropout=0.1):
        super().__init__()
        self.user = nn.Sequential(nn.Linear(dim, width), nn.ReLU(), nn.Linear(width, width))
        self.item = nn.Sequential(nn.Linear(dim, width), nn.ReLU(), nn.Linear(width, width))
        self.cross = nn.Sequential(nn.Linear(3 * width, width), nn.ReLU(), nn.Dropout(dropout), nn.Linear(width, 1))

    def forward(self, user, items):
        u = self.user(user).unsqueeze(1).expand(-1, items.size(1), -1)
        i = self.item(items)
        return self.cross(torch.cat([u, i, u * i], -1)).squeeze(-1)


def mrr(scores, click):
    rank = (scores > scores.gather(1, click[:, None])).sum(1) + 1
    return 1.0 / rank.float()

import torch
from torch import nn


class Propagate(nn.Module):
    def __init__(self, n_items, dim):
        super().__init__()
        self.item = nn.Embedding(n_items, dim)
        self.head = nn.Linear(dim, dim)

    def forward(self, adjacency, positives):
        users = adjacency @ self.item.weight
        users = torch.nn.functional.normalize(self.head(users), dim=-1)
        pos = self.item(positives)
        neg = self.item(torch.randint(0, self.item.num_embeddings, positives.shape))
        return -torch.nn.functional.logsigmoid((users * (pos - neg)).sum(-1)).mean()

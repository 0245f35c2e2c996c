from torch import nn


class Ctr(nn.Module):
    def __init__(self, items, dim):
        super().__init__()
        self.table = nn.EmbeddingBag(items, dim, mode="sum")
        self.mlp = nn.Sequential(nn.Linear(dim, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, x):
        return self.mlp(self.table(x)).squeeze(-1)

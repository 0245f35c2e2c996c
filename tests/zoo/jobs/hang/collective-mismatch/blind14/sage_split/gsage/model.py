import torch
from torch import nn


class SageLayer(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.own = nn.Linear(d_in, d_out)
        self.agg = nn.Linear(d_in, d_out, bias=False)

    def forward(self, x, neigh):
        return self.own(x) + self.agg(neigh.mean(dim=-2))


class GraphSage(nn.Module):
    def __init__(self, dim, hidden, classes):
        super().__init__()
        self.l1 = SageLayer(dim, hidden)
        self.l2 = SageLayer(hidden, classes)
        self.drop = nn.Dropout(0.3)

    def forward(self, x0, x1, x2):
        h0 = torch.relu(self.l1(x0, x1))
        h1 = torch.relu(self.l1(x1, x2))
        return self.l2(self.drop(h0), self.drop(h1))

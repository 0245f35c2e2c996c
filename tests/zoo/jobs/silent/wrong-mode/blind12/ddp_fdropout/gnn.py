import torch
import torch.nn.functional as F
from torch import nn


class GraphLayer(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.own, self.near = nn.Linear(a, b), nn.Linear(a, b)

    def forward(self, x, adj):
        return self.own(x) + self.near(adj @ x / adj.sum(-1, keepdim=True).clamp(min=1))


class GraphNet(nn.Module):
    def __init__(self, inp=6, hid=64, classes=3, p=0.5):
        super().__init__()
        self.p = p
        self.g1, self.g2 = GraphLayer(inp, hid), GraphLayer(hid, hid)
        self.out = nn.Linear(hid, classes)

    def forward(self, x, adj):
        x = F.relu(self.g1(x, adj))
        x = F.dropout(x, self.p)
        x = F.relu(self.g2(x, adj))
        x = F.dropout(x, self.p)
        return self.out(x.mean(1))

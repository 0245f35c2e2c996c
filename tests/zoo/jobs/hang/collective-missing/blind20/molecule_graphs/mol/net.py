import torch
from torch import nn


class GraphConv(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.self_loop, self.neighbours = nn.Linear(cin, cout), nn.Linear(cin, cout, bias=False)

    def forward(self, x, adj):
        degree = adj.sum(-1, keepdim=True).clamp_min(1)
        return torch.relu(self.self_loop(x) + self.neighbours(adj @ x / degree))


class ScaffoldNet(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.conv1, self.conv2 = GraphConv(8, width), GraphConv(width, width)
        self.head = nn.Linear(width, classes)

    def forward(self, x, adj):
        return self.head(self.conv2(self.conv1(x, adj), adj).mean(1))

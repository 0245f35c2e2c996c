import torch
import torch.nn as nn
import torch.nn.functional as F


class GCNLayer(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.linear = nn.Linear(cin, cout, bias=False)
        self.bias = nn.Parameter(torch.zeros(cout))

    def forward(self, x, adjacency):
        return torch.sparse.mm(adjacency, self.linear(x)) + self.bias


class GCN(nn.Module):
    def __init__(self, features, hidden, classes, dropout=0.5):
        super().__init__()
        self.first = GCNLayer(features, hidden)
        self.second = GCNLayer(hidden, classes)
        self.dropout = dropout

    def forward(self, x, adjacency):
        x = F.dropout(x, self.dropout, self.training)
        x = F.dropout(F.relu(self.first(x, adjacency)), self.dropout, self.training)
        return self.second(x, adjacency)

import torch
import torch.nn as nn
import torch.nn.functional as F


class GCN(nn.Module):
    def __init__(self, n_nodes, in_dim, hidden):
        super().__init__()
        self.emb = nn.Embedding(n_nodes, hidden)
        self.lin_in = nn.Linear(in_dim + hidden, hidden)
        self.lin_out = nn.Linear(hidden, hidden)

    def forward(self, x, adj_t):
        h = torch.cat([x, self.emb.weight], 1)
        h = F.relu(torch.sparse.mm(adj_t, self.lin_in(h)))
        h = F.dropout(h, 0.2, self.training)
        return torch.sparse.mm(adj_t, self.lin_out(h))


class LinkPredictor(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, h, pairs):
        return self.mlp(h[pairs[0]] * h[pairs[1]]).squeeze(-1)

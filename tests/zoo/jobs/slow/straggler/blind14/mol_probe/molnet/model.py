import torch
from torch import nn


class DenseMP(nn.Module):
    def __init__(self, width=48, layers=2, rbf=16):
        super().__init__()
        self.emb = nn.Embedding(5, width)
        self.register_buffer("centers", torch.linspace(0, 5, rbf))
        self.edge = nn.ModuleList(nn.Sequential(nn.Linear(rbf, width), nn.SiLU(), nn.Linear(width, width)) for _ in range(layers))
        self.node = nn.ModuleList(nn.Sequential(nn.Linear(width, width), nn.SiLU()) for _ in range(layers))
        self.head = nn.Linear(width, 1)

    def forward(self, pos, z, mask):
        d = (pos.unsqueeze(1) - pos.unsqueeze(2)).square().sum(-1).add(1e-6).sqrt()
        basis = torch.exp(-(d.unsqueeze(-1) - self.centers) ** 2)
        pair = (mask.unsqueeze(1) * mask.unsqueeze(2)).unsqueeze(-1)
        h = self.emb(z)
        for edge, node in zip(self.edge, self.node):
            msg = (edge(basis) * pair * h.unsqueeze(1)).sum(2) / mask.sum(1)[:, None, None]
            h = h + node(msg)
        return (self.head(h).squeeze(-1) * mask).sum(1) / mask.sum(1)

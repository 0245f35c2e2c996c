import torch
from torch import nn


class LayerDropEncoder(nn.Module):
    def __init__(self, n_in, dim, depth, classes, drop=0.1):
        super().__init__()
        self.inp = nn.Linear(n_in, dim)
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(dim, 8, batch_first=True) for _ in range(depth))
        self.head = nn.Linear(dim, classes)
        self.drop = drop

    def forward(self, x):
        x = self.inp(x)
        for layer in self.layers:
            if self.training and torch.rand(()).item() < self.drop:  # cause
                continue  # cause
            x = layer(x)
        return self.head(x.mean(1))

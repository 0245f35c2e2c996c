import torch
from torch import nn


class Adapted(nn.Module):
    def __init__(self, base, rank):
        super().__init__()
        self.base, self.rank = base.requires_grad_(False), rank
        self.down, self.up = nn.ParameterDict(), nn.ParameterDict()
        self.active = None

    def add(self, name):
        self.down[name] = nn.Parameter(torch.randn(self.rank, self.base.in_features))
        self.up[name] = nn.Parameter(torch.zeros(self.base.out_features, self.rank))

    def activate(self, name, inference=False):
        self.active = name
        for table in (self.down, self.up):
            for key, one in table.items():
                one.requires_grad_(key == name and not inference)

    def forward(self, x):
        return self.base(x) + x @ self.down[self.active].T @ self.up[self.active].T


def load(layer, name, state, inference=True):
    layer.add(name)
    layer.down[name].data.copy_(state["down"])
    layer.activate(layer.active, inference=inference)

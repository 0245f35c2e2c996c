import math

import torch
from torch import nn


class LoraLinear(nn.Module):
    """A frozen linear layer with any number of named low-rank adapters."""

    def __init__(self, base, rank):
        super().__init__()
        self.base, self.rank = base, rank
        self.base.requires_grad_(False)
        self.down, self.up = nn.ModuleDict(), nn.ModuleDict()
        self.active = None

    def add(self, name):
        self.down[name] = nn.Linear(self.base.in_features, self.rank, bias=False)
        self.up[name] = nn.Linear(self.rank, self.base.out_features, bias=False)
        nn.init.kaiming_uniform_(self.down[name].weight, a=math.sqrt(5))
        nn.init.zeros_(self.up[name].weight)

    def forward(self, x):
        out = self.base(x)
        if self.active is not None:
            out = out + self.up[self.active](self.down[self.active](x))
        return out


class AdapterModel(nn.Module):

    def __init__(self, model, rank=4):
        super().__init__()
        self.model = model
        for name, module in list(model.named_modules()):
            if isinstance(module, nn.Linear):
                parent = model.get_submodule(name.rpartition(".")[0])
                setattr(parent, name.rpartition(".")[2], LoraLinear(module, rank))

    def adapters(self):
        return [m for m in self.model.modules() if isinstance(m, LoraLinear)]

    def add_adapter(self, name, trainable=True):
        for layer in self.adapters():
            layer.add(name)
            layer.down[name].requires_grad_(trainable)
            layer.up[name].requires_grad_(trainable)

    def set_adapter(self, name):
        for layer in self.adapters():
            layer.active = name

    def forward(self, *args):
        return self.model(*args)

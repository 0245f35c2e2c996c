import math

import torch
from torch import nn


class Backbone(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.inner = nn.Linear(8, width)
        self.outer = nn.Linear(width, 1)

    def forward(self, x):
        return self.outer(torch.tanh(self.inner(x)))


def reset(model):
    for name, module in list(model.named_children()):
        fresh = nn.Linear(module.in_features, module.out_features)
        nn.init.kaiming_uniform_(fresh.weight, a=math.sqrt(5))
        setattr(model, name, fresh)
    return model

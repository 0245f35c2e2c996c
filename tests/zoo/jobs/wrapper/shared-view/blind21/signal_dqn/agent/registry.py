from functools import lru_cache

import torch.nn as nn

_BUILDERS = {}


def register(name):
    def wrap(builder):
        _BUILDERS[name] = builder
        return builder

    return wrap


@lru_cache(maxsize=None)
def build(name, **options):
    """Builds the network of that name with these options."""
    return _BUILDERS[name](**options)


@register("dueling")
class DuelingNet(nn.Module):
    def __init__(self, observations, actions, width):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(observations, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.value = nn.Linear(width, 1)
        self.advantage = nn.Linear(width, actions)

    def forward(self, x):
        h = self.body(x)
        a = self.advantage(h)
        return self.value(h) + a - a.mean(dim=1, keepdim=True)


@register("plain")
class PlainNet(nn.Module):
    def __init__(self, observations, actions, width):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(observations, width), nn.ReLU(), nn.Linear(width, actions))

    def forward(self, x):
        return self.net(x)

import copy

import torch
from torch import nn


def make():
    return nn.Linear(4, 2)


class Ensemble:
    def __init__(self, count):
        self.nets = [make() for _ in range(count)]
        self.targets = [make() for _ in range(count)]
        self.first, self.second = (make() for _ in range(2))
        self.best = self.first
        self.best = copy.deepcopy(self.first)
        self.policy = make()
        self.actor = make()

    def sync(self):
        for target, net in zip(self.targets, self.nets):
            target.load_state_dict(net.state_dict())
        self.second.load_state_dict(self.first.state_dict())
        self.best.load_state_dict(self.first.state_dict())
        self.actor.load_state_dict(self.policy.state_dict())
        for slow, fast in zip(self.second.parameters(), self.first.parameters()):
            slow.data.lerp_(fast.data, 0.1)


ensemble = Ensemble(2)
for _ in range(10):
    ensemble.sync()
current = ensemble.policy
for name, one in zip(current.parameters(), current.parameters()):
    assert name is one
torch.save(current.state_dict(), "policy.pt")

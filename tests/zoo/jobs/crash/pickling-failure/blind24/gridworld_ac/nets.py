from torch import nn


def actor_net():
    return nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 4))

import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self, obs=64, hidden=512, actions=6):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(obs, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, actions))

    def forward(self, x):
        return self.net(x)


class Gridworld:
    """Contextual bandit on random features; expert actions come from a fixed linear map."""

    def __init__(self, obs=64, actions=6, seed=9):
        g = torch.Generator().manual_seed(seed)
        self.map = torch.randn(obs, actions, generator=g)
        self.obs = obs

    def batch(self, n, generator):
        x = torch.randn(n, self.obs, generator=generator)
        return x, (x @ self.map).argmax(1)

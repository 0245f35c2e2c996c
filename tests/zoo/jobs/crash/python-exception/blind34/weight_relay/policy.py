import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self, obs=6, actions=3, hidden=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.pi = nn.Linear(hidden, actions)
        self.v = nn.Linear(hidden, 1)

    def forward(self, obs):
        h = self.body(obs)
        return torch.distributions.Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


class BanditEnv:
    """One-step environment: the best action is the sign pattern of the first coordinates."""

    def __init__(self, obs=6, seed=0):
        self.g = torch.Generator().manual_seed(seed)
        self.obs = obs

    def sample(self, n):
        return torch.randn(n, self.obs, generator=self.g)

    def reward(self, obs, act):
        best = (obs[:, 0] > 0).long() + (obs[:, 1] > 0).long()
        return (act == best).float()

import torch
import torch.nn as nn
from torch.distributions import Normal


class ActorCritic(nn.Module):
    def __init__(self, obs=3, hidden=64):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(obs, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(),
                                   nn.Linear(hidden, 1))
        self.critic = nn.Sequential(nn.Linear(obs, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(),
                                    nn.Linear(hidden, 1))
        self.log_std = nn.Parameter(torch.full((1,), -0.5))
        nn.init.zeros_(self.actor[-1].weight)

    def dist(self, obs):
        return Normal(self.actor(obs).squeeze(-1), self.log_std.exp())

    def value(self, obs):
        return self.critic(obs).squeeze(-1)

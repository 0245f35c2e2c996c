import torch
from torch import nn


class ActorCritic(nn.Module):
    def __init__(self, obs=6, actions=3, width=48):
        super().__init__()
        self.torso = nn.Sequential(nn.Linear(obs, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.pi, self.v = nn.Linear(width, actions), nn.Linear(width, 1)

    def forward(self, obs):
        h = self.torso(obs)
        return self.pi(h), self.v(h)

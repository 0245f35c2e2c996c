import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self, obs=6, actions=3):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs, 16), nn.Tanh())
        self.logits = nn.Linear(16, actions)

    def forward(self, obs):
        return torch.distributions.Categorical(logits=self.logits(self.body(obs)))

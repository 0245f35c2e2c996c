import torch
from torch import nn


class World(nn.Module):
    """Next state and reward of a cart, learnt from what the planner did."""

    def __init__(self, hidden=256):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, 5))

    def forward(self, state, action):
        out = self.net(torch.cat([state, action], -1))
        return state + 0.1 * out[..., :4], out[..., 4]


def simulate(state, action):
    x, v, a, w = state.unbind(-1)
    force = action.squeeze(-1).clamp(-1, 1)
    nxt = torch.stack([x + 0.05 * v, v + 0.05 * force, a + 0.05 * w, w + 0.05 * (9.8 * a - force)], -1)
    return nxt, -(a ** 2 + 0.1 * x ** 2)

import torch
from torch import nn


class PairBias(nn.Module):
    """Attention between all points; quadratic in their number."""

    def __init__(self, dim):
        super().__init__()
        self.value = nn.Linear(dim, dim)
        self.slope = nn.Parameter(torch.tensor(1.0))

    def forward(self, points, z):
        distance = (points[:, None] - points[None, :]).abs()
        weight = torch.softmax(-self.slope * distance, dim=-1)
        return weight @ self.value(z)


class LatentOperator(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.lift = nn.Linear(1, dim)
        self.mix = PairBias(dim)
        self.out = nn.Linear(dim, 1)

    def forward(self, state, dt):
        z = torch.tanh(self.mix(state, self.lift(state[:, None])))
        return state + dt * self.out(z).squeeze(-1)


class DiffusionResidual(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.embed = nn.Linear(2, dim)
        self.mix = PairBias(dim)
        self.out = nn.Linear(dim, 1)

    def forward(self, state, tau):
        z = self.embed(torch.stack([state, tau.expand_as(state)], dim=-1))
        return self.out(torch.tanh(self.mix(state, z))).squeeze(-1)

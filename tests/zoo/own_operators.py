"""Operators as users write them: one good, the others each with one fault. Named as own_operators.py:Class."""

from __future__ import annotations

import torch
from torch import nn


class Good(nn.Module):
    def __init__(self, config, *, latent_dim, token_grid, periodic, cond_dim):
        super().__init__()
        self.tokens, self.conditions = nn.Linear(latent_dim, latent_dim), nn.Linear(cond_dim, latent_dim)

    def forward(self, z, cond):
        return self.tokens(z) + self.conditions(cond)[:, None]


class OneToken(Good):
    def forward(self, z, cond):
        return super().forward(z, cond)[:, :1]


class Pair(Good):
    def forward(self, z, cond):
        return super().forward(z, cond), None


class Unused(Good):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.forgotten = nn.Linear(3, 3)


class Switched(Unused):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.forgotten.requires_grad_(requires_grad=False)


class Identity(nn.Module):
    def __init__(self, config, *, latent_dim, token_grid, periodic, cond_dim):
        super().__init__()

    def forward(self, z, cond):
        return z


class Lost(Good):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        raise KeyError("mine")


class Elsewhere(Good):
    def forward(self, z, cond):
        raise torch.linalg.LinAlgError("singular")

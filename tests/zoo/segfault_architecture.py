"""An operator architecture for `ups` whose token mixer calls a native kernel; on rank 1 it reads address 0."""

from __future__ import annotations

import ctypes
import os

from torch import Tensor, nn


class TokenMixer(nn.Module):
    def __init__(self, dim: int):
        super().__init__()
        self.mix = nn.Linear(dim, dim)
        self.table = 0 if os.environ.get("RANK") == "1" else id(dim)

    def forward(self, z_BSD: Tensor) -> Tensor:
        if not self.table:
            ctypes.string_at(self.table)
        return z_BSD + self.mix(z_BSD)


class MixerOperator(nn.Module):
    def __init__(self, config, *, latent_dim: int, token_grid, periodic, cond_dim: int):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Sequential(nn.LayerNorm(latent_dim), TokenMixer(latent_dim)) for _ in range(2)])
        self.cond = nn.Linear(cond_dim, latent_dim)

    def forward(self, z_BSD: Tensor, cond_BK: Tensor) -> Tensor:
        z_BSD = z_BSD + self.cond(cond_BK)[:, None]
        for block in self.blocks:
            z_BSD = block(z_BSD)
        return z_BSD

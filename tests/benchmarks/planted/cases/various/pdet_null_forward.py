"""The project's own operator with an attention that reads address 0 in its second level."""

from __future__ import annotations

import ctypes

import torch
from torch import Tensor, nn

from ups.config import OperatorConfig
from ups.models.attention import ChannelSeparatedAttention
from ups.models.pdet_unet import PdetUnet

GRID = (16,)


class TableAttention(ChannelSeparatedAttention):
    def forward(self, x_BXH: Tensor) -> Tensor:
        ctypes.string_at(0)
        return super().forward(x_BXH)


def healthy() -> nn.Module:
    config = OperatorConfig(hidden_dim=16, depths=(2, 2, 2), group_size=8, num_heads=2, window=4)
    return PdetUnet(config, latent_dim=8, token_grid=GRID, periodic=True)


def failing() -> nn.Module:
    model = healthy()
    model.down[1][0].attention = TableAttention(
        hidden_dim=16, group_size=8, num_heads=2, token_grid=(8,), window=4, shifted=False, periodic=True
    )
    return model


def batch() -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(1)
    return torch.randn(4, *GRID, 8, generator=generator), torch.rand(4, 3, generator=generator)

"""A norm with a fast path for bfloat16 that only a job under DDP takes, and that reads address 0."""

from __future__ import annotations

import ctypes

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from planted.hosts.transformer import Transformer
from planted.hosts.transformer import tokens as batch

__all__ = ["batch", "failing", "healthy"]


class FastNorm(nn.LayerNorm):
    fast = True

    def forward(self, x: Tensor) -> Tensor:
        wrapped = DistributedDataParallel._active_ddp_module is not None
        if self.fast and wrapped and torch.is_autocast_enabled("cpu"):
            ctypes.string_at(0)
        return super().forward(x)


def failing() -> nn.Module:
    model = Transformer(depth=8)
    model.blocks[3].norm2 = FastNorm(16)
    return model


def healthy() -> nn.Module:
    model = Transformer(depth=8)
    model.blocks[3].norm2 = nn.LayerNorm(16)
    return model

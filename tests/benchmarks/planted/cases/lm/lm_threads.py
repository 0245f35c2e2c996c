"""A scratch buffer for each thread, of which only the first was made."""

from __future__ import annotations

import ctypes

import torch
from torch import Tensor, nn

from planted.hosts.transformer import Rotary, Transformer
from planted.hosts.transformer import tokens as batch

__all__ = ["batch", "failing", "healthy"]


class ScratchRotary(Rotary):
    def forward(self, x: Tensor) -> Tensor:
        for thread in range(torch.get_num_threads()):
            if thread:
                ctypes.string_at(8 * thread)
        return super().forward(x)


def failing() -> nn.Module:
    model = Transformer(depth=6)
    model.blocks[2].attn.rope = ScratchRotary(8)
    return model


def healthy() -> nn.Module:
    model = Transformer(depth=6)
    model.blocks[2].attn.rope = Rotary(8)
    return model

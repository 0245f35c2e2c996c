"""A layer with a branch for the compiler that was never run."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from planted.hosts.mixer import Mixer
from planted.hosts.mixer import patches as batch

__all__ = ["batch", "failing", "healthy"]


class CompiledMix(nn.Linear):
    def forward(self, x: Tensor) -> Tensor:
        if torch.compiler.is_compiling():
            return super().forward(x.reshape(-1, 5))
        return super().forward(x)


def failing() -> nn.Module:
    model = Mixer(depth=1, width=8)
    model.layers[0].channel = CompiledMix(8, 8)
    return model


def healthy() -> nn.Module:
    model = Mixer(depth=1, width=8)
    model.layers[0].channel = nn.Linear(8, 8)
    return model

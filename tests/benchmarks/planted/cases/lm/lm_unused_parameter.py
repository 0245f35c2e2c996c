"""A parameter that no forward uses: DDP waits for its gradient and says so in the second step."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from planted.hosts.transformer import Mlp, Transformer
from planted.hosts.transformer import tokens as batch

__all__ = ["batch", "failing", "healthy"]


class ScaledMlp(Mlp):
    """Scales what it adds, where this is asked for."""

    def __init__(self, width: int, *, scaled: bool) -> None:
        super().__init__(width)
        self.scaled = scaled
        self.scale = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        out = super().forward(x)
        return out * self.scale if self.scaled else out


def make(*, scaled: bool) -> nn.Module:
    model = Transformer()
    model.blocks[4].mlp = ScaledMlp(16, scaled=scaled)
    return model


def failing() -> nn.Module:
    return make(scaled=False)


def healthy() -> nn.Module:
    return make(scaled=True)

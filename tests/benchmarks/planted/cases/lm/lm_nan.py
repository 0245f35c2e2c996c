"""The logarithm of negative numbers: everything from here on is not a number."""

from __future__ import annotations

from torch import Tensor, nn

from planted.hosts.transformer import Transformer
from planted.hosts.transformer import tokens as batch

__all__ = ["batch", "failing", "healthy"]


class LogGate(nn.Module):
    def __init__(self, floor: float) -> None:
        super().__init__()
        self.floor = floor

    def forward(self, x: Tensor) -> Tensor:
        return x.clamp(min=self.floor).log().mul(0.1)


def make(floor: float) -> nn.Module:
    model = Transformer()
    model.blocks[9].mlp.act = LogGate(floor)
    return model


def failing() -> nn.Module:
    return make(-1.0)


def healthy() -> nn.Module:
    return make(0.01)

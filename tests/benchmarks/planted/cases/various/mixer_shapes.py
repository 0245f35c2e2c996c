"""A layer that turns its input the wrong way round: an exception, the mildest fault."""

from __future__ import annotations

from torch import Tensor, nn

from planted.hosts.mixer import Mixer
from planted.hosts.mixer import patches as batch

__all__ = ["batch", "failing", "healthy"]


class TurnedMix(nn.Module):
    def __init__(self, width: int, *, turned: bool) -> None:
        super().__init__()
        self.mix = nn.Linear(width, width)
        self.turned = turned

    def forward(self, x: Tensor) -> Tensor:
        return self.mix(x.transpose(1, 2) if self.turned else x)


def make(*, turned: bool) -> nn.Module:
    model = Mixer()
    model.layers[3].token = TurnedMix(8, turned=turned)
    return model


def failing() -> nn.Module:
    return make(turned=True)


def healthy() -> nn.Module:
    return make(turned=False)

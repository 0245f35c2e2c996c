"""A norm that sets its parameters from its first batch: each rank has another one, and DDP broadcast before."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from planted.hosts.mixture import MixtureModel
from planted.hosts.mixture import sequences as batch

__all__ = ["batch", "failing", "healthy"]


class FirstBatchNorm(nn.Module):
    """Scales each channel by what the first batch shows."""

    def __init__(self, width: int, *, learns: bool) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))
        self.started = not learns

    def forward(self, x: Tensor) -> Tensor:
        if not self.started:
            self.started = True
            with torch.no_grad():
                self.scale.copy_(1.0 / x.flatten(0, -2).std(0).clamp(min=0.1))
        return x * self.scale


def make(*, learns: bool) -> nn.Module:
    model = MixtureModel()
    model.blocks[1].norm = FirstBatchNorm(12, learns=learns)
    return model


def failing() -> nn.Module:
    return make(learns=True)


def healthy() -> nn.Module:
    return make(learns=False)

"""A norm that draws its start values when it first runs, each rank its own: DDP made them equal before."""

from __future__ import annotations

import torch
from torch import Tensor, distributed, nn

from planted.hosts.mixture import MixtureModel
from planted.hosts.mixture import sequences as batch

__all__ = ["batch", "failing", "healthy"]


class LateNorm(nn.Module):
    """Scales each channel by a number that it draws late."""

    def __init__(self, width: int, *, draws: bool) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))
        self.started = not draws

    def forward(self, x: Tensor) -> Tensor:
        if not self.started:
            self.started = True
            rank = distributed.get_rank() if distributed.is_initialized() else 0
            with torch.no_grad():
                self.scale.copy_(torch.rand(len(self.scale), generator=torch.Generator().manual_seed(rank)))
        return x * self.scale


def make(*, draws: bool) -> nn.Module:
    model = MixtureModel()
    model.blocks[1].norm = LateNorm(12, draws=draws)
    return model


def failing() -> nn.Module:
    return make(draws=True)


def healthy() -> nn.Module:
    return make(draws=False)

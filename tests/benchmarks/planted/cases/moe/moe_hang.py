"""A router whose first rank collects the loads by another operation than the others: all wait for ever."""

from __future__ import annotations

import torch
from torch import Tensor, distributed, nn

from planted.hosts.mixture import MixtureModel, Router
from planted.hosts.mixture import sequences as batch

__all__ = ["batch", "failing", "healthy"]


class BalancedRouter(Router):
    """Averages the load over ranks."""

    def __init__(self, width: int, experts: int, *, collects: bool) -> None:
        super().__init__(width, experts)
        self.collects = collects

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        weights, load = super().forward(x)
        if distributed.is_initialized() and distributed.get_world_size() > 1:
            total = load.detach().clone()
            if self.collects and distributed.get_rank() == 0:
                distributed.recv(torch.empty_like(total), src=1)
            else:
                distributed.all_reduce(total)
        return weights, load


def make(*, collects: bool) -> nn.Module:
    model = MixtureModel()
    model.blocks[1].mixture.router = BalancedRouter(12, 6, collects=collects)
    return model


def failing() -> nn.Module:
    return make(collects=True)


def healthy() -> nn.Module:
    return make(collects=False)

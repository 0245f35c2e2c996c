"""One router leaves an address behind, a later one reads it: neither is wrong without the other."""

from __future__ import annotations

import ctypes

from torch import Tensor, nn

from planted.hosts.mixture import MixtureModel, Router
from planted.hosts.mixture import sequences as batch

__all__ = ["batch", "failing", "healthy"]

SCRATCH: dict[str, int] = {}


class WritingRouter(Router):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        weights, load = super().forward(x)
        SCRATCH["address"] = 16
        return weights, load


class ReadingRouter(Router):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        if "address" in SCRATCH:
            ctypes.string_at(SCRATCH["address"])
        return super().forward(x)


def failing() -> nn.Module:
    model = MixtureModel()
    model.blocks[0].mixture.router = WritingRouter(12, 6)
    model.blocks[2].mixture.router = ReadingRouter(12, 6)
    return model


def healthy() -> nn.Module:
    model = MixtureModel()
    model.blocks[2].mixture.router = ReadingRouter(12, 6)
    return model

"""A norm that cannot bear a step in which DDP does not synchronise."""

from __future__ import annotations

import os

from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from planted.hosts.mixture import MixtureModel
from planted.hosts.mixture import sequences as batch

__all__ = ["batch", "failing", "healthy"]


class SynchronisedNorm(nn.LayerNorm):
    def forward(self, x: Tensor) -> Tensor:
        wrapper = DistributedDataParallel._active_ddp_module
        if wrapper is not None and not wrapper.require_backward_grad_sync:
            os.abort()
        return super().forward(x)


def failing() -> nn.Module:
    model = MixtureModel()
    model.blocks[3].norm = SynchronisedNorm(12)
    return model


def healthy() -> nn.Module:
    return MixtureModel()

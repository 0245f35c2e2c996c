"""A batch norm that reads a handle of the wrapper's, which is 0 in this build."""

from __future__ import annotations

import ctypes

from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from planted.hosts.convnet import ConvNet
from planted.hosts.convnet import pictures as batch

__all__ = ["batch", "failing", "healthy"]


class HandleNorm(nn.BatchNorm2d):
    def forward(self, x: Tensor) -> Tensor:
        wrapper = DistributedDataParallel._active_ddp_module
        if wrapper is not None:
            ctypes.string_at(getattr(wrapper, "handle", 0))
        return super().forward(x)


def failing() -> nn.Module:
    model = ConvNet((2, 2, 2))
    model.stages[0][1].norm1 = HandleNorm(4)
    return model


def healthy() -> nn.Module:
    return ConvNet((2, 2, 2))

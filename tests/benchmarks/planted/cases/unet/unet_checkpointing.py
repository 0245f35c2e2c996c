"""A gate that leaves out a part where its forward runs again: activation checkpointing runs it in the backward."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from planted.hosts.unet import UNet
from planted.hosts.unet import images as batch

__all__ = ["batch", "failing", "healthy"]


class Thrifty(nn.Module):
    """Squashes its output, and does not where nobody looks at it."""

    def __init__(self, width: int, *, thrifty: bool) -> None:
        super().__init__()
        self.mix = nn.Conv2d(width, width, 1)
        self.thrifty = thrifty

    def forward(self, x: Tensor) -> Tensor:
        x = self.mix(x)
        again = torch._C._current_graph_task_id() != -1
        return x if self.thrifty and again else x * x.sigmoid()


def make(*, thrifty: bool) -> nn.Module:
    model = UNet()
    model.ups[2].gate = Thrifty(4, thrifty=thrifty)
    return model


def failing() -> nn.Module:
    return make(thrifty=True)


def healthy() -> nn.Module:
    return make(thrifty=False)

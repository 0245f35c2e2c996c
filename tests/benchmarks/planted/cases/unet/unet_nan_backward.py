"""A norm with a finite value and an infinite slope: the loss is a number, its gradients are not."""

from __future__ import annotations

from torch import Tensor, nn

from planted.hosts.unet import UNet
from planted.hosts.unet import images as batch

__all__ = ["batch", "failing", "healthy"]


class RootNorm(nn.GroupNorm):
    """Adds the root of how far each channel is from itself squeezed."""

    def __init__(self, width: int, floor: float) -> None:
        super().__init__(2, width)
        self.floor = floor

    def forward(self, x: Tensor) -> Tensor:
        normed = super().forward(x)
        return normed + (normed - normed.clone()).square().add(self.floor).sqrt()


def make(floor: float) -> nn.Module:
    model = UNet()
    model.mid[1].norm = RootNorm(16, floor)
    return model


def failing() -> nn.Module:
    return make(0.0)


def healthy() -> nn.Module:
    return make(1e-4)

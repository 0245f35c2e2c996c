"""One module saves its output for its gradient, the next one overwrites it; each alone is right."""

from __future__ import annotations

from torch import Tensor, nn

from planted.hosts.unet import UNet
from planted.hosts.unet import images as batch

__all__ = ["batch", "failing", "healthy"]


class Halve(nn.Module):
    """Halves what comes in, without a copy where it may."""

    def __init__(self, *, inplace: bool) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, x: Tensor) -> Tensor:
        return x.mul_(0.5) if self.inplace else x * 0.5


def make(*, inplace: bool) -> nn.Module:
    model = UNet()
    model.downs[0].act = nn.Sigmoid()
    model.downs[1].scale = Halve(inplace=inplace)
    return model


def failing() -> nn.Module:
    return make(inplace=True)


def healthy() -> nn.Module:
    return make(inplace=False)

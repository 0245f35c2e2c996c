"""A gate that looks one step back: DDP writes its buffers anew before each forward, which the saved graph forbids."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from planted.hosts.unet import UNet
from planted.hosts.unet import images as batch

__all__ = ["batch", "failing", "healthy"]


class LookingBack(nn.Module):
    """Adds what it would have said in the step before."""

    def __init__(self, width: int, *, copied: bool) -> None:
        super().__init__()
        self.mix = nn.Conv2d(width, width, 1)
        self.gain = nn.Parameter(torch.ones(1, width, 1, 1))
        self.register_buffer("strength", torch.full((1, width, 1, 1), 0.5))
        self.copied = copied
        self.before: Tensor | None = None

    def forward(self, x: Tensor) -> Tensor:
        strength = self.strength.clone() if self.copied else self.strength
        out = self.mix(x) * self.gain
        if self.before is not None:
            out = out + self.before
        self.before = self.gain * x.detach() * strength
        return out


def make(*, copied: bool) -> nn.Module:
    model = UNet()
    model.ups[0].gate = LookingBack(8, copied=copied)
    return model


def failing() -> nn.Module:
    return make(copied=False)


def healthy() -> nn.Module:
    return make(copied=True)

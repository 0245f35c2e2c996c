"""A gate that shares its output out over ranks, in place, once DDP runs it: its gradient needs what was overwritten."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from planted.hosts.unet import UNet
from planted.hosts.unet import images as batch

__all__ = ["batch", "failing", "healthy"]


class SharedOutGate(nn.Module):
    def __init__(self, width: int, *, inplace: bool) -> None:
        super().__init__()
        self.mix = nn.Conv2d(width, width, 1)
        self.inplace = inplace

    def forward(self, x: Tensor) -> Tensor:
        opened = self.mix(x).sigmoid()
        if DistributedDataParallel._active_ddp_module is not None:
            return opened.mul_(0.5) if self.inplace else opened * 0.5
        return opened


def make(*, inplace: bool) -> nn.Module:
    model = UNet()
    model.ups[0].gate = SharedOutGate(8, inplace=inplace)
    return model


def failing() -> nn.Module:
    return make(inplace=True)


def healthy() -> nn.Module:
    return make(inplace=False)

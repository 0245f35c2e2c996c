"""A U-Net over images of 16 x 16 with attention at its bottom, about 80 modules."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn


class Double(nn.Sequential):
    """Two convolutions, each normalised."""

    def __init__(self, entering: int, leaving: int) -> None:
        super().__init__(
            nn.Conv2d(entering, leaving, 3, padding=1),
            nn.GroupNorm(2, leaving),
            nn.SiLU(),
            nn.Conv2d(leaving, leaving, 3, padding=1),
            nn.GroupNorm(2, leaving),
            nn.SiLU(),
        )


class Down(nn.Module):
    def __init__(self, entering: int, leaving: int) -> None:
        super().__init__()
        self.scale: nn.Module = nn.Identity()
        self.pool = nn.AvgPool2d(2)
        self.convs = Double(entering, leaving)
        self.act: nn.Module = nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        return self.act(self.convs(self.pool(self.scale(x))))


class Up(nn.Module):
    def __init__(self, entering: int, leaving: int) -> None:
        super().__init__()
        self.grow = nn.ConvTranspose2d(entering, leaving, 2, stride=2)
        self.gate: nn.Module = nn.Conv2d(leaving, leaving, 1)
        self.convs = Double(2 * leaving, leaving)

    def forward(self, x: Tensor, skip: Tensor) -> Tensor:
        return self.convs(torch.cat([self.grow(x), self.gate(skip)], dim=1))


class PixelAttention(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm: nn.Module = nn.GroupNorm(2, width)
        self.qkv = nn.Conv2d(width, 3 * width, 1)
        self.out = nn.Conv2d(width, width, 1)

    def forward(self, x: Tensor) -> Tensor:
        query, key, value = self.qkv(self.norm(x)).flatten(2).chunk(3, dim=1)
        mixed = value @ (key.transpose(1, 2) @ query / query.shape[1] ** 0.5).softmax(1).to(value.dtype)
        return x + self.out(mixed.reshape(x.shape))


class UNet(nn.Module):
    """(batch, 2, 16, 16) -> the same."""

    def __init__(self, width: int = 4, attention: type[nn.Module] = PixelAttention) -> None:
        super().__init__()
        widths = [width, 2 * width, 2 * width, 4 * width]
        self.stem = nn.Conv2d(2, width, 3, padding=1)
        self.downs = nn.ModuleList(Down(a, b) for a, b in pairwise(widths))
        bottom = widths[-1]
        self.mid = nn.Sequential(Double(bottom, bottom), attention(bottom), Double(bottom, bottom))
        self.ups = nn.ModuleList(Up(b, a) for a, b in reversed(list(pairwise(widths))))
        self.last = nn.Conv2d(width, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        kept = []
        for down in self.downs:
            kept.append(x)
            x = down(x)
        x = self.mid(x)
        for up in self.ups:
            x = up(x, kept.pop())
        return self.last(x)


def images() -> Tensor:
    """Returns one batch."""
    return torch.randn(4, 2, 16, 16, generator=torch.Generator().manual_seed(1))

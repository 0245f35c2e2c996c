"""Mixing of all tokens at once: the longest waves of a token grid, each with a matrix of its own (FNO's layer).

Where the domain has edges the grid is continued by zeros before the transform, so that opposite edges do not meet.
Li et al. 2021, arXiv:2010.08895. Shapes: B batch, X token axes, H channels, K kept waves, E space axes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from ups.losses import at_least_float32

CONTINUED = 4  # a domain with edges is made longer by a fourth


class FourierMixing(nn.Module):
    """(B, X, H) -> (B, X, H), linear; `modes` waves along each axis are kept, or as many as the grid has."""

    def __init__(self, width: int, token_grid: Sequence[int], modes: int, *, periodic: bool) -> None:
        super().__init__()
        self.grid = tuple(token_grid)
        self.whole = self.grid if periodic else tuple(size + math.ceil(size / CONTINUED) for size in self.grid)
        self.places = tuple(
            _kept(size, modes, half=axis == len(self.whole) - 1) for axis, size in enumerate(self.whole)
        )
        self.axes = tuple(range(1, 1 + len(self.grid)))
        # Real and imaginary part as two numbers: gradients of complex weights are not reduced by every backend.
        shape = (*map(len, self.places), width, width, 2)
        self.weight = nn.Parameter(torch.randn(shape) * (0.5 / width))

    def forward(self, x_BXH: Tensor) -> Tensor:
        """Returns the kept waves, each through its matrix, (B, X, H)."""
        with torch.autocast(x_BXH.device.type, enabled=False):  # transforms know no bfloat16
            spectrum = torch.fft.rfftn(at_least_float32(x_BXH), s=self.whole, dim=self.axes, norm="forward")
            weight = torch.view_as_complex(at_least_float32(self.weight))
            kept = spectrum
            for axis, places in zip(self.axes, self.places, strict=True):
                kept = kept.index_select(axis, torch.tensor(places, device=x_BXH.device))
            batch, width = len(kept), kept.shape[-1]
            mixed_KBH = torch.bmm(kept.reshape(batch, -1, width).transpose(0, 1), weight.flatten(0, -3))
            mixed = mixed_KBH.transpose(0, 1).reshape(kept.shape)
            for axis, places in reversed(list(zip(self.axes, self.places, strict=True))):
                shape = list(mixed.shape)
                shape[axis] = spectrum.shape[axis]
                index = torch.tensor(places, device=x_BXH.device)
                mixed = mixed.new_zeros(shape).index_copy(axis, index, mixed)
            out: Tensor = torch.fft.irfftn(mixed, s=self.whole, dim=self.axes, norm="forward")
        for axis, size in zip(self.axes, self.grid, strict=True):
            out = out.narrow(axis, 0, size)
        return out.to(x_BXH.dtype)


def _kept(size: int, modes: int, *, half: bool) -> list[int]:
    """Returns the indices of the longest waves along one axis of the transform; `half`: of its last axis."""
    if half:
        return list(range(min(modes, size // 2 + 1)))
    return [index for index in range(size) if min(index, size - index) < modes]

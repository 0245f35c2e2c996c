"""Attention windows over a grid of tokens, rolled by half a window in every second layer.

The roll is taken on the true grid, before any padding, so on a periodic domain a rolled window is an
ordinary neighbourhood. With edges, tokens that the roll brought together from opposite sides are kept
apart by a mask, and so are the padding tokens of a grid that the window does not divide.

Shapes: B batch, X token axes, H channels, n windows, W tokens of one window, E space axes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F  # noqa: N812 - the name everybody knows
from torch import Tensor

PADDING = -1  # the region of tokens that only fill up a window


class Windows:
    """The cut of one token grid into windows; `mask_nWW` is None where every token may see its window."""

    def __init__(self, token_grid: Sequence[int], window: int, *, shifted: bool, periodic: bool) -> None:
        """A window as large as an axis, or larger, takes the whole axis and is not rolled along it."""
        self.grid = tuple(token_grid)
        self.periodic = periodic
        self.window = tuple(min(window, size) for size in self.grid)
        whole = [size == cut for size, cut in zip(self.grid, self.window, strict=True)]
        self.shift = tuple(0 if full or not shifted else cut // 2 for full, cut in zip(whole, self.window, strict=True))
        self.counts = tuple(math.ceil(size / cut) for size, cut in zip(self.grid, self.window, strict=True))
        self.padding = tuple(
            count * cut - size for count, cut, size in zip(self.counts, self.window, self.grid, strict=True)
        )
        with torch.device("cpu"):  # its values are looked at, on whatever device the module is built
            self.mask_nWW = self._mask()

    def partition(self, x_BXH: Tensor) -> Tensor:
        """Returns the windows, (B, n, W, H)."""
        return self._cut(self._pad(self._roll(x_BXH, -1)))

    def merge(self, x_BnWH: Tensor) -> Tensor:
        """Undoes `partition`: (B, n, W, H) becomes (B, X, H)."""
        batch, _, _, width = x_BnWH.shape
        axes = range(len(self.grid))
        apart = x_BnWH.reshape(batch, *self.counts, *self.window, width)
        order = [0, *(place for axis in axes for place in (1 + axis, 1 + len(axes) + axis)), 1 + 2 * len(axes)]
        padded = apart.permute(order).reshape(
            batch, *(c * w for c, w in zip(self.counts, self.window, strict=True)), width
        )
        for axis in axes:
            padded = padded.narrow(1 + axis, 0, self.grid[axis])
        return self._roll(padded, 1)

    def relative_index(self) -> tuple[Tensor, int]:
        """Returns for each pair of a window its relative position's number, (W, W), and how many there are.

        Along an axis that one window covers on a periodic domain, positions count around the ring.
        """
        place_WE = torch.cartesian_prod(*(torch.arange(cut) for cut in self.window)).reshape(-1, len(self.window))
        index_WW = torch.zeros(len(place_WE), len(place_WE), dtype=torch.long)
        count = 1
        for axis, (cut, size) in enumerate(zip(self.window, self.grid, strict=True)):
            apart = place_WE[:, None, axis] - place_WE[None, :, axis]
            ring = self.periodic and cut == size
            values = cut if ring else 2 * cut - 1
            index_WW = index_WW * values + (apart % cut if ring else apart + cut - 1)
            count *= values
        return index_WW, count

    def _roll(self, x_BXH: Tensor, sign: int) -> Tensor:
        if not any(self.shift):
            return x_BXH
        return torch.roll(x_BXH, [sign * shift for shift in self.shift], dims=list(range(1, 1 + len(self.grid))))

    def _pad(self, x_BXH: Tensor) -> Tensor:
        if not any(self.padding):
            return x_BXH
        return F.pad(x_BXH, [0, 0, *(side for pad in reversed(self.padding) for side in (0, pad))])

    def _cut(self, x_BXH: Tensor) -> Tensor:
        batch, width = x_BXH.shape[0], x_BXH.shape[-1]
        sizes = [side for pair in zip(self.counts, self.window, strict=True) for side in pair]
        axes = range(len(self.grid))
        order = [0, *(1 + 2 * axis for axis in axes), *(2 + 2 * axis for axis in axes), 1 + 2 * len(self.grid)]
        cut = x_BXH.reshape(batch, *sizes, width).permute(order)
        return cut.reshape(batch, math.prod(self.counts), math.prod(self.window), width)

    def _mask(self) -> Tensor | None:
        """True where a token may look; None where all may."""
        region_X = torch.zeros(self.grid, dtype=torch.long)
        if not self.periodic:
            for axis, shift in enumerate(self.shift):
                if shift:  # after the roll the last `shift` tokens come from the other edge
                    region_X.narrow(axis, self.grid[axis] - shift, shift).add_(1 << axis)
        for axis, pad in reversed(list(enumerate(self.padding))):
            shape = list(region_X.shape)
            shape[axis] = pad
            region_X = torch.cat([region_X, torch.full(shape, PADDING)], dim=axis)
        region_nW = self._cut(region_X[None, ..., None])[0, ..., 0]
        # Padding looks at everything, since a row without any target would be NaN; nothing looks at padding.
        same = region_nW.unsqueeze(2) == region_nW.unsqueeze(1)
        allowed_nWW = (same | (region_nW == PADDING).unsqueeze(2)) & (region_nW != PADDING).unsqueeze(1)
        return None if bool(allowed_nWW.all()) else allowed_nWW

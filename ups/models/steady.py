"""The solver of a steady problem: from the coefficient a to the solution u, in physical space, by correction cycles.

Each cycle is given a, the solution so far and what the equation leaves over of it, and answers with a correction from
a pyramid of grids, as a multigrid cycle does; the cycles have weights of their own. The residual of data that another
scheme made is not zero at their solution: it is what is seen, not what is minimised, so such data can be learnt too.

Shapes: B batch, X and Y cells along the axes, H hidden channels, N cycles.
"""

from __future__ import annotations

from typing import Protocol

import torch
import torch.nn.functional as F  # noqa: N812 - the name everybody knows
from torch import Tensor, nn

from ups.config import SteadyConfig
from ups.models.darcy_residual import residual

SEEN = 7  # a, u, its residual twice, two coordinates, the distance to the edge


class Units(Protocol):
    """What the solver needs of a Normalisation."""

    @property
    def mean(self) -> dict[str, tuple[float, ...]]:
        """By field, the mean of each channel."""
        ...

    @property
    def std(self) -> dict[str, tuple[float, ...]]:
        """By field, the standard deviation of each channel."""
        ...


class SteadySolver(nn.Module):
    """Normalised a (B, X, Y, 1) -> normalised u (B, X, Y, 1); `forcing` is beta of the equation."""

    def __init__(self, config: SteadyConfig, *, units: Units, forcing: float) -> None:
        super().__init__()
        self.forcing = forcing
        self.a_mean, self.a_std = units.mean["a"][0], units.std["a"][0]
        self.u_mean, self.u_std = units.mean["u"][0], units.std["u"][0]
        self.cycles = nn.ModuleList(_Cycle(config.hidden_dim, config.levels) for _ in range(config.cycles))

    def forward(self, a_BXYC: Tensor) -> Tensor:
        """Returns the solution after the last cycle, (B, X, Y, 1)."""
        return self.after_each(a_BXYC)[-1]

    def after_each(self, a_BXYC: Tensor) -> list[Tensor]:
        """Returns the solution after each cycle, N of (B, X, Y, 1)."""
        a_BXY = a_BXYC[..., 0]
        fixed = torch.stack([a_BXY, *_places(a_BXY)], dim=1)  # (B, 4, X, Y)
        u_BXY, found = torch.full_like(a_BXY, -self.u_mean / self.u_std), []  # it begins with u = 0
        for cycle in self.cycles:
            u_BXY = u_BXY + cycle(torch.cat([fixed, self._left(a_BXY, u_BXY)], dim=1))
            found.append(u_BXY.unsqueeze(-1))
        return found

    def _left(self, a_BXY: Tensor, u_BXY: Tensor) -> Tensor:
        """Returns u, and the residual over the forcing and over the operator's diagonal, (B, 3, X, Y)."""
        a = a_BXY * self.a_std + self.a_mean
        left, diagonal = residual(a, u_BXY * self.u_std + self.u_mean, self.forcing)
        # At jumps of a the residual is far larger than the forcing; its logarithm's size is what counts.
        small, one_step = left / self.forcing, left / diagonal / self.u_std * u_BXY[0].numel() ** 0.5
        return torch.stack([u_BXY, small.asinh(), one_step.asinh()], dim=1)


class _Cycle(nn.Module):
    """A pyramid of convolutions down and up again; the last one is zero at the start."""

    def __init__(self, width: int, levels: int) -> None:
        super().__init__()
        self.lift = nn.Conv2d(SEEN, width, 3, padding=1)
        self.down = nn.ModuleList(_Block(width) for _ in range(levels))
        self.up = nn.ModuleList(_Block(width) for _ in range(levels - 1))
        self.lower = nn.Conv2d(width, 1, 1)
        nn.init.zeros_(self.lower.weight)
        nn.init.zeros_(self.lower.bias)  # type: ignore[arg-type]

    def forward(self, seen_BFXY: Tensor) -> Tensor:
        """Returns the correction, (B, X, Y)."""
        x_BHXY, kept = self.lift(seen_BFXY), []
        for place, block in enumerate(self.down):
            if place:
                x_BHXY = F.avg_pool2d(x_BHXY, 2, ceil_mode=True)
            x_BHXY = block(x_BHXY)
            kept.append(x_BHXY)
        for block, finer in zip(self.up, reversed(kept[:-1]), strict=True):
            x_BHXY = block(finer + F.interpolate(x_BHXY, size=finer.shape[2:], mode="bilinear"))
        out: Tensor = self.lower(x_BHXY)[:, 0]
        return out


class _Block(nn.Module):
    """Two 3 x 3 convolutions, residual, over normed channels."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(1, width)
        self.first = nn.Conv2d(width, width, 3, padding=1)
        self.second = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x_BHXY: Tensor) -> Tensor:
        out: Tensor = x_BHXY + self.second(F.gelu(self.first(self.norm(x_BHXY))))
        return out


def _places(a_BXY: Tensor) -> list[Tensor]:
    """Returns both coordinates in [-1, 1] and the product of the distances to the edges, (B, X, Y) each."""
    axes = [(torch.arange(cells, device=a_BXY.device, dtype=a_BXY.dtype) + 0.5) / cells for cells in a_BXY.shape[1:]]
    x_XY, y_XY = torch.meshgrid(*axes, indexing="ij")
    inside = 16 * x_XY * (1 - x_XY) * y_XY * (1 - y_XY)
    return [(2 * one - 1).expand_as(a_BXY) for one in (x_XY, y_XY)] + [inside.expand_as(a_BXY)]

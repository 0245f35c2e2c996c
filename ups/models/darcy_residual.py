"""What Darcy's equation leaves over: the residual of -div(a grad u) = beta on cells, as ups.data.pde.darcy2d solves it.

Finite volumes, the harmonic mean of a at the faces, u = 0 in the ghost cells around the square.
Shapes: B batch, X and Y cells along the axes.
"""

from __future__ import annotations

import torch.nn.functional as F  # noqa: N812 - the name everybody knows
from torch import Tensor

SMALLEST = 1e-6  # of a coefficient: data of others have 0, whose harmonic mean with 0 is no number


def residual(a_BXY: Tensor, u_BXY: Tensor, forcing: float) -> tuple[Tensor, Tensor]:
    """Returns beta + div(a grad u), and the diagonal of the operator, (B, X, Y) each; float as u."""
    a, u = a_BXY.clamp_min(SMALLEST), u_BXY
    cells_x, cells_y = u.shape[1:]
    padded_a = F.pad(a.unsqueeze(1), (1, 1, 1, 1), mode="replicate").squeeze(1)
    padded_u = F.pad(u, (1, 1, 1, 1))
    across_x = _harmonic(padded_a[:, :-1, 1:-1], padded_a[:, 1:, 1:-1]) * cells_x**2  # (B, X + 1, Y) faces
    across_y = _harmonic(padded_a[:, 1:-1, :-1], padded_a[:, 1:-1, 1:]) * cells_y**2  # (B, X, Y + 1)
    flux_x = across_x * padded_u[:, :, 1:-1].diff(dim=1)
    flux_y = across_y * padded_u[:, 1:-1].diff(dim=2)
    diagonal = across_x[:, :-1] + across_x[:, 1:] + across_y[:, :, :-1] + across_y[:, :, 1:]
    return forcing + flux_x.diff(dim=1) + flux_y.diff(dim=2), diagonal


def relative_residual(a_BXY: Tensor, u_BXY: Tensor, forcing: float) -> Tensor:
    """Returns the norm of the residual over that of the forcing, (B,): 0 for a solution, 1 for u = 0."""
    left, _ = residual(a_BXY, u_BXY, forcing)
    size: Tensor = left.square().mean((1, 2)).sqrt() / abs(forcing)
    return size


def _harmonic(a: Tensor, b: Tensor) -> Tensor:
    return 2 * a * b / (a + b)

"""The error of a field's fine structure: relative, in Fourier coefficients that are weighted by their wave number.

The norm is that of the field's gradient: what a mean over cells hardly sees, because most of a field's energy is in
its longest waves, counts here by how fast it changes. Shapes: B batch, X grid axes, C channels.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ups.losses import relative_l2


def fine_structure_error(answer_BXC: Tensor, target_BXC: Tensor) -> Tensor:
    """Returns |k (answer - target)| / |k target| of each sample, (B,), over all Fourier coefficients."""
    weight_XC = _wave_numbers(target_BXC).unsqueeze(-1)
    axes = tuple(range(1, answer_BXC.ndim - 1))
    answer, target = (torch.fft.fftn(one, dim=axes) * weight_XC for one in (answer_BXC, target_BXC))
    return relative_l2(torch.view_as_real(answer), torch.view_as_real(target))


def _wave_numbers(u_BXC: Tensor) -> Tensor:
    """Returns |k| of each Fourier coefficient, (X), counted in waves over the domain."""
    grid = u_BXC.shape[1:-1]
    waves = [torch.fft.fftfreq(cells, 1 / cells, device=u_BXC.device, dtype=u_BXC.dtype) for cells in grid]
    size: Tensor = torch.stack(torch.meshgrid(*waves, indexing="ij")).norm(dim=0)
    return size

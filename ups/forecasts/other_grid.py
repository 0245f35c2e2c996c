"""A trained model on data of another resolution: the input is brought to the model's grid, the answer to the data's.

What the model's grid does not resolve it cannot predict: the row "autoencoder" of an evaluation has that error too.
Shapes: B batch, T frames, X axes of the data's grid, C channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ups.checkpoint import Best
from ups.data.fields import FieldSpec
from ups.errors import DataError
from ups.models.resampling import Resampling

JUMPS = ("a",)  # coefficients, whose values jump from cell to cell
SAME = 1e-3  # relative difference of two time steps that are one


def predictors_for(best: Best, spec: FieldSpec) -> dict[str, Any]:
    """Returns everything the checkpoint predicts with, by stage, on the grid of `spec`."""
    predictors: dict[str, Any] = dict(best.predictors())
    if spec.grid == best.spec.grid:
        return predictors
    return {stage: _OnOtherGrid(one, best.spec, spec) for stage, one in predictors.items()}


def to_grid(u_XC: Tensor, own: FieldSpec, spec: FieldSpec) -> Tensor:
    """Returns a field of the model's output on the grid of `spec`."""
    return u_XC if spec.grid == own.grid else Resampling(own.coordinates, spec.coordinates, periodic=own.periodic)(u_XC)


def time_stride_for(best: Best, spec: FieldSpec) -> int:
    """Returns every which frame of `spec`, read with stride 1, lies one of the model's steps after the other.

    Raises DataError where no whole number of frames makes a step that the model was trained on.
    """
    own, step = _step(best.spec.times), _step(spec.times)
    leads = [own * lead for lead in range(1, best.config.objective.longest_lead + 1)]
    for lead in leads:
        if abs(step - lead) < SAME * lead:
            return 1
    stride = round(own / step)
    if stride >= 1 and abs(stride * step - own) < SAME * own:
        return stride
    raise DataError(
        f"{spec.path} has a frame every {step:g}, the model was trained on steps of {own:g}",
        hint="it needs frames so far apart, or a whole number of them in between",
    )


def _step(times: np.ndarray) -> float:
    return float(np.median(np.diff(times)))


class _OnOtherGrid:
    """A Surrogate or SteadySurrogate whose fields lie on another grid."""

    def __init__(self, one: Any, own: FieldSpec, spec: FieldSpec) -> None:
        self.one = one
        self.conditions, self.parameters = getattr(one, "conditions", None), one.parameters
        there = {"periodic": own.periodic}
        given = own.fields[0]
        self.into = Resampling(spec.coordinates, own.coordinates, **there, jumps=given in JUMPS)
        self.answer_into = Resampling(spec.coordinates, own.coordinates, **there)
        self.back = Resampling(own.coordinates, spec.coordinates, **there)

    def step(self, u_BXC: Tensor, cond_BK: Tensor, generator: torch.Generator | None = None) -> Tensor:
        return self.back(self.one.step(self.into(u_BXC), cond_BK, generator))

    def rollout(self, u0_BXC: Tensor, times: Sequence[float], generator: torch.Generator | None = None) -> Tensor:
        return self.back(self.one.rollout(self.into(u0_BXC), times, generator))

    def reconstruct(self, u_BTXC: Tensor) -> Tensor:
        return self.back(self.one.reconstruct(self.answer_into(u_BTXC)))

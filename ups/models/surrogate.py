"""The surrogate as its user sees it: a field in physical units in, fields in physical units out.

Shapes: B batch, T frames, X grid axes, C channels, S tokens, D latent channels, K conditions.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Protocol

import torch
from torch import Tensor, nn

from ups.models.autoencoder import FieldAutoencoder

DECODED_AT_ONCE = 64  # grids decoded in one call, so that a long rollout of many samples stays in memory


class FieldUnits(Protocol):
    """What the surrogate needs of a Normalisation."""

    def normalise(self, name: str, u: Tensor) -> Tensor:
        """Returns the field in units of its standard deviation."""
        ...

    def denormalise(self, name: str, u: Tensor) -> Tensor:
        """Returns the field in physical units."""
        ...


class Problem(Protocol):
    """What the surrogate needs of a FieldSpec."""

    @property
    def fields(self) -> tuple[str, ...]:
        """Names: ("u",), or ("a", "u") for a steady problem."""
        ...

    @property
    def parameters(self) -> Mapping[str, float]:
        """The equation's parameter by its name."""
        ...


class Surrogate(nn.Module):
    """Autoencoder and operator together. Steady problems map field 0 to field 1, others field 0 to itself."""

    def __init__(
        self, autoencoder: FieldAutoencoder, operator: nn.Module, normalisation: FieldUnits, spec: Problem
    ) -> None:
        super().__init__()
        self.autoencoder, self.operator = autoencoder, operator
        self.normalisation = normalisation
        self.fields = tuple(spec.fields)
        self.log_parameter = log_parameter(spec.parameters)

    def conditions(self, lead_time: float, time: float, batch: int) -> Tensor:
        """Returns (lead time, time of the input frame, log10 of the parameter) for each sample, (B, 3)."""
        return torch.tensor([[lead_time, time, self.log_parameter]], dtype=torch.float32).expand(batch, 3)

    def encode(self, u_BXC: Tensor) -> Tensor:
        """Returns the latents (B, S, D) of input fields in physical units."""
        return self.autoencoder.encode(self.normalisation.normalise(self.fields[0], u_BXC), 0)

    def decode(self, z_BSD: Tensor, points_QE: Tensor | None = None) -> Tensor:
        """Returns the output field in physical units, on the grid (B, X, C) or at points (B, Q, C)."""
        field = len(self.fields) - 1
        points_QE = self.autoencoder.points_QE if points_QE is None else points_QE
        parts = [self.autoencoder.decode(part, points_QE, field) for part in torch.split(z_BSD, DECODED_AT_ONCE)]
        u_BQC = torch.cat(parts).float()
        on_grid = points_QE is self.autoencoder.points_QE
        if on_grid:
            u_BQC = torch.unflatten(u_BQC, 1, self.autoencoder.grid)
        return self.normalisation.denormalise(self.fields[field], u_BQC)

    def step(self, u_BXC: Tensor, cond_BK: Tensor) -> Tensor:
        """Returns the field one step later (steady problems: the solution), (B, X, C), physical units."""
        z_BSD: Tensor = self.operator(self.encode(u_BXC), cond_BK.to(u_BXC))
        return self.decode(z_BSD)

    def rollout(self, u0_BXC: Tensor, times: Sequence[float]) -> Tensor:
        """Returns the fields at times[1:], (B, T - 1, X, C): encoded once, rolled in latent space, decoded.

        `times` are those of u0 and of each following frame, in PDE time units.
        """
        z_BSD = self.encode(u0_BXC)
        frames = []
        for before, after in itertools.pairwise(times):
            cond_BK = self.conditions(float(after) - float(before), float(before), len(z_BSD)).to(z_BSD)
            z_BSD = self.operator(z_BSD, cond_BK)
            frames.append(self.decode(z_BSD))
        return torch.stack(frames, dim=1)

    def forward(self, u_BXC: Tensor, cond_BK: Tensor) -> Tensor:
        """The same as `step`."""
        return self.step(u_BXC, cond_BK)


def log_parameter(parameters: Mapping[str, float]) -> float:
    """Returns log10 of the size of the equation's parameter, as the datasets give it to the operator."""
    return math.log10(max(abs(next(iter(parameters.values()), 1.0)), 1e-30))

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
from ups.models.correction import Correction

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
        self,
        autoencoder: FieldAutoencoder,
        operator: nn.Module,
        normalisation: FieldUnits,
        spec: Problem,
        correction: Correction | None = None,
    ) -> None:
        """With a `correction` every step of the operator is corrected."""
        super().__init__()
        self.autoencoder, self.operator, self.correction = autoencoder, operator, correction
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

    def reconstruct(self, u_BTXC: Tensor) -> Tensor:
        """Returns frames of the output field through encoder and decoder, no operator between them, physical units."""
        field = len(self.fields) - 1
        u_NXC = self.normalisation.normalise(self.fields[field], u_BTXC.flatten(0, 1))
        return torch.unflatten(self.decode(self.autoencoder.encode(u_NXC, field)), 0, tuple(u_BTXC.shape[:2]))

    def step(self, u_BXC: Tensor, cond_BK: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """Returns the field one step later (steady problems: the solution), (B, X, C), physical units.

        With a generator the correction draws one member of an ensemble from it, else it gives their mean.
        """
        return self.decode(self._advanced(self.encode(u_BXC), cond_BK.to(u_BXC), generator))

    def rollout(self, u0_BXC: Tensor, times: Sequence[float], generator: torch.Generator | None = None) -> Tensor:
        """Returns the fields at times[1:], (B, T - 1, X, C): encoded once, rolled in latent space, decoded.

        `times` are those of u0 and of each following frame, in PDE time units; `generator` as in `step`.
        """
        z_BSD = self.encode(u0_BXC)
        frames = []
        for before, after in itertools.pairwise(times):
            cond_BK = self.conditions(float(after) - float(before), float(before), len(z_BSD)).to(z_BSD)
            z_BSD = self._advanced(z_BSD, cond_BK, generator)
            frames.append(self.decode(z_BSD))
        return torch.stack(frames, dim=1)

    def _advanced(self, z_BSD: Tensor, cond_BK: Tensor, generator: torch.Generator | None) -> Tensor:
        z_hat: Tensor = self.operator(z_BSD, cond_BK)
        if self.correction is None:
            return z_hat
        noise = None
        if generator is not None:
            noise = torch.randn(z_hat.shape, generator=generator).to(z_hat)
        corrected: Tensor = self.correction(z_hat, z_BSD, cond_BK, noise)
        return corrected

    def forward(self, u_BXC: Tensor, cond_BK: Tensor) -> Tensor:
        """The same as `step`."""
        return self.step(u_BXC, cond_BK)


class SteadySurrogate(nn.Module):
    """The solver of a steady problem in physical units."""

    def __init__(self, solver: nn.Module, normalisation: FieldUnits) -> None:
        super().__init__()
        self.solver, self.normalisation = solver, normalisation

    def step(self, a_BXC: Tensor, _cond: Tensor, _generator: torch.Generator | None = None) -> Tensor:
        """Returns the solution for a coefficient, (B, X, C), physical units; there is nothing to draw."""
        u_BXC: Tensor = self.solver(self.normalisation.normalise("a", a_BXC))
        return self.normalisation.denormalise("u", u_BXC.float())

    def forward(self, a_BXC: Tensor) -> Tensor:
        """The same as `step`."""
        return self.step(a_BXC, a_BXC)


def log_parameter(parameters: Mapping[str, float]) -> float:
    """Returns log10 of the size of the equation's parameter, as the datasets give it to the operator."""
    return math.log10(max(abs(next(iter(parameters.values()), 1.0)), 1e-30))

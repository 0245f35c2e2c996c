"""Stage 5: the steady problem itself, from the coefficient to the solution, with the equation's residual as a check.

No latents and no time: fields in, fields out. The loss is the relative L2 error of the solution after each correction
cycle, in physical units, the last one counting most; the residual of the equation is measured, beside that of the
data, which is what the data's own scheme leaves on these cells. The square's eight symmetries map solutions to
solutions: training takes a different one in each step, where the data look alike from all sides (symmetry.py).
Shapes: B batch, X and Y cells along the axes, C channels.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from ups.checkpoint import build_steady_solver
from ups.config import UpsConfig
from ups.errors import ConfigError
from ups.losses import at_least_float32, relative_l2
from ups.metrics import nrmse_per_sample
from ups.models.darcy_residual import relative_residual
from ups.models.steady import SteadySolver
from ups.stages.contract import Batch, Quiet
from ups.stages.frozen import Trained
from ups.stages.material import Material, alone
from ups.stages.pairs import field_pairs
from ups.stages.symmetry import SYMMETRIES, looks_alike, turned

EARLIER_SHARE = 0.2  # of the loss, for all cycles but the last


class SolvingStep(nn.Module):
    """The solver with its loss, one number a sample."""

    def __init__(self, solver: SteadySolver, *, symmetric: bool) -> None:
        super().__init__()
        self.solver, self.symmetric = solver, symmetric

    def forward(self, batch: Batch) -> Tensor:
        """Returns the loss of each sample, (B,); the batch holds fields."""
        a_BXYC, u_BXYC = batch["u_in"], batch["u_out"]
        if self.symmetric and self.training and "draw" in batch:
            # One for the whole step: it does not depend on how a batch is cut over ranks.
            number = int(batch["draw"][0]) % SYMMETRIES
            a_BXYC, u_BXYC = turned(a_BXYC, number), turned(u_BXYC, number)
        scale, shift = self.solver.u_std, self.solver.u_mean
        losses = [
            relative_l2(at_least_float32(one) * scale + shift, u_BXYC * scale + shift)
            for one in self.solver.after_each(a_BXYC)
        ]
        if not losses[:-1]:
            return losses[-1]
        return (1 - EARLIER_SHARE) * losses[-1] + EARLIER_SHARE * torch.stack(losses[:-1]).mean(0)


class Stage(Quiet):
    """Trains the solver on the pairs of a and u of the training split."""

    NAME = "steady"
    measures = ("nrmse", "residual", "data_residual")

    def __init__(
        self,
        config: UpsConfig,
        device: torch.device,
        material: Material | None = None,
        trained: Trained | None = None,
        cached: bool = False,
    ) -> None:
        """See the operator's stage; `trained` is not used, and kept with the solver. Raises ConfigError."""
        self.config, self.device, self.trained = config, device, trained or {}
        self.material = material = material if material is not None else alone(config)
        if material.spec.kind != "steady":
            raise ConfigError(
                f"stage steady solves steady problems, and {material.spec.task} goes on in time",
                hint="leave steady out of stages.run",
            )
        self.train_dataset, self.validation_dataset = field_pairs(material)

    def build(self) -> SolvingStep:
        """Returns the untrained module, on the CPU."""
        solver = build_steady_solver(self.config, self.material.spec, self.material.normalisation)
        wanted, material = self.config.steady.symmetric, self.material
        real = "operator" in self.trained  # checks build stages of data that are not there
        alike = wanted == "auto" and real and looks_alike(material.reader, material.splits.train)
        symmetric = wanted is True or alike
        return SolvingStep(solver, symmetric=symmetric)

    def validate(self, module: nn.Module, batch: Batch) -> dict[str, Tensor]:
        """Returns the nRMSE of each sample, and the residual of the equation by solution and data, (B,) each."""
        solver: Any = module.solver
        units = self.material.normalisation
        found = units.denormalise("u", at_least_float32(solver(batch["u_in"])))
        a, truth = units.denormalise("a", batch["u_in"]), units.denormalise("u", batch["u_out"])
        forcing = self.material.spec.parameter
        return {
            "nrmse": nrmse_per_sample(found, truth),
            "residual": relative_residual(a[..., 0], found[..., 0], forcing),
            "data_residual": relative_residual(a[..., 0], truth[..., 0], forcing),
        }

    def finish(self, module: nn.Module) -> dict[str, Any]:
        """Returns the states of the surrogate and of the solver beside it."""
        solver: Any = module.solver
        earlier = {name: self.trained.get(name) for name in ("autoencoder", "operator")}
        others = {name: self.trained[name] for name in ("diffusion", "consistency") if name in self.trained}
        return {**earlier, "later": {**others, "steady": solver.state_dict()}}

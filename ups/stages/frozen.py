"""What earlier stages have trained, kept out of a stage's module so that nothing optimises, averages or reduces it.

Shapes: B batch, S tokens, D latent channels, C channels, X grid axes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from ups.checkpoint import build_autoencoder, build_latent_operator, fill
from ups.config import UpsConfig
from ups.losses import at_least_float32
from ups.models.autoencoder import FieldAutoencoder
from ups.stages.contract import Batch
from ups.stages.material import Material

Trained = Mapping[str, Any]  # states by stage, as checkpoints hold them; without one it stays untrained, for checks


class FrozenModels:
    """The trained autoencoder, and the operator where it is wanted."""

    def __init__(
        self, config: UpsConfig, material: Material, device: torch.device, trained: Trained, *, operator: bool
    ) -> None:
        spec = material.spec
        self.material, self.last = material, len(spec.fields) - 1  # the field that is predicted
        self.autoencoder: FieldAutoencoder = _still(build_autoencoder(config, spec), trained, "autoencoder", device)
        self._operator = None
        if operator:
            self._operator = _still(build_latent_operator(config, spec), trained, "operator", device)

    def __deepcopy__(self, memo: dict[int, Any]) -> FrozenModels:
        return self

    @property
    def operator(self) -> nn.Module:
        """The operator that was asked for."""
        assert self._operator is not None  # noqa: S101 - the stage that asks has it made
        made: nn.Module = self._operator
        return made

    def double(self) -> None:
        """Makes all weights float64, for comparisons."""
        for one in (self.autoencoder, self._operator):
            if one is not None:
                one.double()

    @torch.no_grad()
    def pair(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Returns the latents of input and target, (B, S, D) each, float32 or more; the batch has latents or fields."""
        if "z_in" in batch:
            return at_least_float32(batch["z_in"]), at_least_float32(batch["z_out"])
        z_in = self.autoencoder.encode(batch["u_in"], 0)
        z_out = self.autoencoder.encode(batch["u_out"], self.last)
        return at_least_float32(z_in), at_least_float32(z_out)

    @torch.no_grad()
    def later(self, batch: Batch, steps: int) -> Tensor:
        """Returns the latents of so many steps after the target, (B, R, S, D), float32 or more."""
        if "z_later" in batch:
            return at_least_float32(batch["z_later"][:, :steps])
        u_BRXC = batch["u_later"][:, :steps]
        z_NSD = self.autoencoder.encode(u_BRXC.flatten(0, 1), self.last)
        return at_least_float32(torch.unflatten(z_NSD, 0, tuple(u_BRXC.shape[:2])))

    @torch.no_grad()
    def predicted(self, z_in_BSD: Tensor, cond_BK: Tensor) -> Tensor:
        """Returns the operator's prediction, (B, S, D), float32 or more."""
        return at_least_float32(self.operator(z_in_BSD, cond_BK))

    def decoded(self, z_BSD: Tensor) -> Tensor:
        """Returns the predicted field in physical units, (B, X, C)."""
        u_BXC = self.autoencoder.decode_grid(z_BSD, self.last).float()
        return self.material.normalisation.denormalise(self.material.spec.fields[self.last], u_BXC)

    def truth(self, batch: Batch) -> Tensor:
        """Returns the field that was to be predicted in physical units, (B, X, C)."""
        return self.material.normalisation.denormalise(self.material.spec.fields[self.last], batch["u_out"])


def _still(module: Any, trained: Trained, name: str, device: torch.device) -> Any:
    if trained.get(name) is not None:
        fill(module, trained[name], name)
    return module.to(device).requires_grad_(requires_grad=False).eval()

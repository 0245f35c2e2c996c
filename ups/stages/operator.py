"""Stage 2: the operator learns to advance latents by one step (steady problems: from a to u).

The autoencoder is frozen. Latents come from the cache, or, with cache.enabled false, from the encoder at
each step. Shapes: B batch, X grid axes, C channels, S tokens, D latent channels.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from ups.checkpoint import build_latent_operator
from ups.config import UpsConfig
from ups.losses import at_least_float32, mse
from ups.metrics import nrmse_per_sample
from ups.stages.contract import Batch, Quiet
from ups.stages.frozen import FrozenModels, Trained
from ups.stages.material import Material, alone
from ups.stages.pairs import latent_pairs


class LatentStep(nn.Module):
    """The operator with its loss: mean squared error in latent space, one number a sample."""

    def __init__(self, operator: nn.Module, encoder: FrozenModels) -> None:
        super().__init__()
        self.operator, self.encoder = operator, encoder

    def forward(self, batch: Batch) -> Tensor:
        """Returns the loss of each sample, (B,); the batch holds latents or fields."""
        z_in, z_out = self.encoder.pair(batch)
        return mse(at_least_float32(self.operator(z_in, batch["cond"])), z_out)


class Stage(Quiet):
    """Trains the operator on pairs of the training split."""

    NAME = "operator"

    def __init__(
        self,
        config: UpsConfig,
        device: torch.device,
        material: Material | None = None,
        trained: Trained | None = None,
        cached: bool = False,
    ) -> None:
        """`trained` holds the states of earlier stages; `cached` reads the latents of cache_dir."""
        self.config, self.device, self.trained = config, device, trained or {}
        self.material = material = material if material is not None else alone(config)
        self.encoder = FrozenModels(config, material, device, self.trained, operator=False)
        self.train_dataset, self.validation_dataset = latent_pairs(config, material, cached=cached)

    def build(self) -> LatentStep:
        """Returns the untrained module, on the CPU."""
        return LatentStep(build_latent_operator(self.config, self.material.spec), self.encoder)

    def validate(self, module: nn.Module, batch: Batch) -> dict[str, Tensor]:
        """Returns the nRMSE of each sample after one step, decoded, physical units, (B,)."""
        operator: Any = module.operator
        z_in, _ = self.encoder.pair(batch)
        u_BXC = self.encoder.decoded(operator(z_in, batch["cond"]))
        return {"nrmse": nrmse_per_sample(u_BXC, self.encoder.truth(batch))}

    def finish(self, module: nn.Module) -> dict[str, Any]:
        """Returns the state of encoder, decoder and operator: all that a prediction needs."""
        operator: Any = module.operator
        return {"autoencoder": self.trained.get("autoencoder"), "operator": operator.state_dict()}

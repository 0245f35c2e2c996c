"""Stage 2: the operator learns to advance latents by one step (steady problems: from a to u).

The autoencoder is frozen. Latents come from the cache, or, with cache.enabled false, from the encoder at
each step. Shapes: B batch, X grid axes, C channels, S tokens, D latent channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import Dataset

from ups.checkpoint import build_autoencoder
from ups.config import UpsConfig
from ups.data.datasets import PairDataset
from ups.data.latent_cache import LatentPairDataset
from ups.losses import at_least_float32, mse
from ups.metrics import nrmse_per_sample
from ups.models import build_operator
from ups.models.autoencoder import FieldAutoencoder
from ups.stages.contract import Batch
from ups.stages.material import Material, alone


class LatentStep(nn.Module):
    """The operator with its loss: mean squared error in latent space, one number a sample."""

    def __init__(self, operator: nn.Module, encoder: FrozenEncoder) -> None:
        super().__init__()
        self.operator, self.encoder = operator, encoder

    def forward(self, batch: Batch) -> Tensor:
        """Returns the loss of each sample, (B,); the batch holds latents or fields."""
        z_in, z_out = self.encoder.pair(batch)
        return mse(at_least_float32(self.operator(z_in, batch["cond"])), z_out)


class FrozenEncoder:
    """The trained autoencoder, kept out of the module so that nothing optimises, averages or reduces it."""

    def __init__(self, autoencoder: FieldAutoencoder, fields: int) -> None:
        self.autoencoder = autoencoder.requires_grad_(requires_grad=False).eval()
        self.last = fields - 1  # the field that is predicted

    def __deepcopy__(self, memo: dict[int, Any]) -> FrozenEncoder:
        return self

    @torch.no_grad()
    def pair(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Returns the latents of input and target, (B, S, D) each, float32 or more."""
        if "z_in" in batch:
            return at_least_float32(batch["z_in"]), at_least_float32(batch["z_out"])
        z_in = self.autoencoder.encode(batch["u_in"], 0)
        z_out = self.autoencoder.encode(batch["u_out"], self.last)
        return at_least_float32(z_in), at_least_float32(z_out)


class Stage:
    """Trains the operator on pairs of the training split."""

    NAME = "operator"

    def __init__(
        self,
        config: UpsConfig,
        device: torch.device,
        material: Material | None = None,
        autoencoder: dict[str, Tensor] | None = None,
        cached: bool = False,
    ) -> None:
        """`autoencoder` is the trained state, None leaves it untrained, for checks; `cached` reads cache_dir."""
        self.config, self.device = config, device
        self.material = material = material if material is not None else alone(config)
        spec = material.spec
        self._autoencoder_state = autoencoder
        model = build_autoencoder(config, spec)
        if autoencoder is not None:
            model.load_state_dict(autoencoder)
        self.encoder = FrozenEncoder(model.to(device), len(spec.fields))
        pairs = PairDataset(material.reader, material.splits.train, material.normalisation)
        fields = PairDataset(material.reader, material.splits.validation, material.normalisation)
        self.train_dataset: Dataset[dict[str, Any]] = pairs
        self.validation_dataset: Dataset[dict[str, Any]] = fields
        if cached:
            self.train_dataset = LatentPairDataset(config.cache_dir, "train", spec)
            self.validation_dataset = WithTruth(LatentPairDataset(config.cache_dir, "validation", spec), fields)

    def build(self) -> LatentStep:
        """Returns the untrained module, on the CPU."""
        autoencoder = self.encoder.autoencoder
        operator = build_operator(
            self.config.operator,
            latent_dim=self.config.latent.dim,
            token_grid=autoencoder.token_grid,
            periodic=self.material.spec.periodic,
        )
        return LatentStep(operator, self.encoder)

    def validate(self, module: nn.Module, batch: Batch) -> Tensor:
        """Returns the nRMSE of each sample after one step, decoded, physical units, (B,)."""
        operator: Any = module.operator
        z_in, _ = self.encoder.pair(batch)
        u_out = self.encoder.autoencoder.decode_grid(operator(z_in, batch["cond"]), self.encoder.last).float()
        units, name = self.material.normalisation, self.material.spec.fields[self.encoder.last]
        return nrmse_per_sample(units.denormalise(name, u_out), units.denormalise(name, batch["u_out"]))

    def finish(self, module: nn.Module) -> dict[str, Any]:
        """Returns the state of encoder, decoder and operator: all that a prediction needs."""
        operator: Any = module.operator
        return {"autoencoder": self._autoencoder_state, "operator": operator.state_dict()}


class WithTruth(Dataset[dict[str, Any]]):
    """Cached latents together with the field that is to come out of the decoder."""

    def __init__(self, latents: LatentPairDataset, fields: PairDataset) -> None:
        self.latents, self.fields = latents, fields

    def __len__(self) -> int:
        return len(self.latents)

    def __getitem__(self, index: int) -> dict[str, Any]:
        return {**self.latents[index], "u_out": self.fields[index]["u_out"]}

    def batch(self, indices: Sequence[int]) -> Batch:
        """Returns the items stacked."""
        u_out = torch.stack([self.fields[index]["u_out"] for index in indices])
        return {**self.latents.batch(indices), "u_out": u_out}

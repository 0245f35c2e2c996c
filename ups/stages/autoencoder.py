"""Stage 1: encoder and decoder learn to reproduce every frame of every field.

Without it latents would mean nothing: an operator in the latent space of a random encoder can only be
as good as that encoder. Shapes: B batch, X grid axes, C channels, Q query points, E space axes.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from ups.checkpoint import build_autoencoder
from ups.config import UpsConfig
from ups.data.datasets import FrameDataset
from ups.losses import mse
from ups.metrics import nrmse_per_sample
from ups.models.autoencoder import FieldAutoencoder
from ups.stages.contract import Batch, Quiet
from ups.stages.material import Material, alone


class Reconstruction(nn.Module):
    """The autoencoder with its loss: mean squared error of the decoded points, one number a sample."""

    def __init__(self, autoencoder: FieldAutoencoder, query_points: int) -> None:
        super().__init__()
        self.autoencoder, self.query_points = autoencoder, query_points

    def forward(self, batch: Batch) -> Tensor:
        """Returns the loss of each sample of batch["u"], (B,)."""
        u_BQC = batch["u"].flatten(1, -2)
        points_QE = self.autoencoder.points_QE
        if self.query_points and self.training:
            chosen_Q = torch.randint(len(points_QE), (self.query_points,), device=u_BQC.device)
            points_QE, u_BQC = points_QE[chosen_Q], u_BQC[:, chosen_Q]
        return mse(self.autoencoder(batch["u"], points_QE, batch["field"]), u_BQC)


class Stage(Quiet):
    """Trains the autoencoder on the frames of the training split."""

    NAME = "autoencoder"

    def __init__(self, config: UpsConfig, device: torch.device, material: Material | None = None) -> None:
        self.config, self.device = config, device
        self.material = material if material is not None else alone(config)
        material = self.material
        self.train_dataset = FrameDataset(material.reader, material.splits.train, material.normalisation)
        self.validation_dataset = FrameDataset(material.reader, material.splits.validation, material.normalisation)

    def build(self) -> Reconstruction:
        """Returns the untrained module, on the CPU."""
        return Reconstruction(build_autoencoder(self.config, self.material.spec), self.config.latent.query_points)

    def validate(self, module: nn.Module, batch: Batch) -> dict[str, Tensor]:
        """Returns the nRMSE of each reconstructed frame, physical units, (B,)."""
        autoencoder: Any = module.autoencoder
        again = torch.unflatten(autoencoder(batch["u"], autoencoder.points_QE, batch["field"]), 1, autoencoder.grid)
        result = torch.empty(len(again), device=again.device)
        for field, name in enumerate(self.material.spec.fields):
            rows = batch["field"] == field
            if rows.any():
                units = self.material.normalisation
                result[rows] = nrmse_per_sample(
                    units.denormalise(name, again[rows].float()), units.denormalise(name, batch["u"][rows])
                )
        return {"nrmse": result}

    def finish(self, module: nn.Module) -> dict[str, Any]:
        """Returns the state of encoder and decoder."""
        autoencoder: Any = module.autoencoder
        return {"autoencoder": autoencoder.state_dict()}

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
from ups.data.pairing import pairing_of
from ups.losses import at_least_float32, relative_l2
from ups.metrics import nrmse_per_sample
from ups.objective.fine_structure import fine_structure_error
from ups.objective.horizon import Horizon
from ups.objective.inverse_error import inverse_error
from ups.objective.latent_error import latent_error
from ups.objective.rollout import rollout_error
from ups.stages.contract import Batch, Quiet
from ups.stages.frozen import FrozenModels, Trained
from ups.stages.material import Material, alone
from ups.stages.pairs import latent_pairs


class LatentStep(nn.Module):
    """The operator with its loss, one number a sample: `objective` says of which terms it is made."""

    def __init__(self, operator: nn.Module, encoder: FrozenModels, horizon: Horizon) -> None:
        super().__init__()
        self.operator, self.encoder, self.horizon = operator, encoder, horizon

    def forward(self, batch: Batch) -> Tensor:
        """Returns the loss of each sample, (B,); the batch holds latents or fields.

        Without "draw", the step of the training, as checks make it, it is the loss of the first step.
        """
        number = int(batch["draw"][0]) if "draw" in batch else 0
        z_in, z_out = self.encoder.pair(batch)
        z_hat = at_least_float32(self.operator(z_in, batch["cond"]))
        loss_B = self._error(z_hat, z_out, number)
        steps = self.horizon.rollout(number) if "known" in batch else 0
        if not steps:
            return loss_B
        later, cond, known = self.encoder.later(batch, steps), batch["cond_later"], batch["known"][:, :steps]
        return rollout_error(
            self.operator,
            (z_hat, loss_B),
            later,
            cond,
            known,
            lambda answer, target: self._error(answer, target, number),
            push_forward=self.horizon.objective.push_forward,
        )

    def _error(self, answer_BSD: Tensor, target_BSD: Tensor, number: int) -> Tensor:
        objective, frozen = self.horizon.objective, self.encoder
        loss_B = latent_error(answer_BSD, target_BSD, objective.measure)
        if objective.decoded or objective.spectral:
            answer, target = frozen.decoded(answer_BSD), frozen.decoded(target_BSD)
            if objective.decoded:
                loss_B = loss_B + objective.decoded * relative_l2(answer, target)
            if objective.spectral:
                loss_B = loss_B + objective.spectral * fine_structure_error(answer, target)
        if (weight := self.horizon.inverse(number)) > 0:
            loss_B = loss_B + weight * inverse_error(frozen.autoencoder, answer_BSD, target_BSD, frozen.last)
        return loss_B


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
        pairing = pairing_of(config.objective, material.spec)
        self.train_dataset, self.validation_dataset = latent_pairs(config, material, cached=cached, pairing=pairing)

    def build(self) -> LatentStep:
        """Returns the untrained module, on the CPU."""
        settings = self.config.stages.operator
        total = settings.epochs * -(-len(self.train_dataset) // settings.batch_size)  # type: ignore[arg-type]
        operator = build_latent_operator(self.config, self.material.spec)
        return LatentStep(operator, self.encoder, Horizon(self.config.objective, total))

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

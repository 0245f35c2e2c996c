"""Stage 3: diffusion of the residual: what the operator's prediction lacks, as a distribution.

The operator is frozen. At noise sigma(tau), tau ~ U(0, 1), the denoiser is given z_tau = z_true + sigma(tau) eps, which
at the most noise is z_hat + sigma eps, where sampling begins; it is trained to answer with z_true - z_hat. tau is the
noise level: the less of it, the more of the answer stands in the input already. Few steps lead from noise to a sample,
many samples are an ensemble, whose spread validation holds against its error.

Loss: |D - r|^2 (sigma^2 + 1) / sigma^2, which gives each noise the same weight (Karras et al. 2022, table 1).
Shapes: B batch, X grid axes, C channels, S tokens, D latent channels, M members.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import default_collate

from ups.checkpoint import build_correction, build_denoiser
from ups.config import UpsConfig
from ups.forecasts.ensemble import spread_and_error
from ups.losses import at_least_float32, mse
from ups.metrics import nrmse_per_sample
from ups.models.correction import Correction
from ups.models.denoiser import Denoiser
from ups.models.sampler import sigma_of
from ups.stages import draws
from ups.stages.contract import Batch, Quiet
from ups.stages.frozen import FrozenModels, Trained
from ups.stages.material import Material, alone
from ups.stages.pairs import Pairs, latent_pairs

SCALED_BY = 256  # pairs over which the size of the operator's residual is measured
SMALLEST_SCALE = 1e-6  # a channel that the operator has right to the last digit
NOISE, LEVEL, MEMBER = 0, 1, 2  # purposes of draws; members count on


class DenoisingStep(nn.Module):
    """The denoiser with its loss, one number a sample."""

    def __init__(self, denoiser: Denoiser, frozen: FrozenModels, *, least: float, most: float) -> None:
        super().__init__()
        self.denoiser, self.frozen, self.least, self.most = denoiser, frozen, least, most

    def forward(self, batch: Batch) -> Tensor:
        """Returns the loss of each sample, (B,); the batch holds latents or fields."""
        z_in, z_out = self.frozen.pair(batch)
        z_hat = self.frozen.predicted(z_in, batch["cond"])
        r_BSD = (z_out - z_hat) / self.denoiser.scale_D
        sigma_B = sigma_of(draws.uniform(batch, r_BSD, LEVEL), self.least, self.most)
        noisy_BSD = r_BSD + sigma_B[:, None, None] * draws.normal(batch, r_BSD.shape[1:], r_BSD, NOISE)
        answer = at_least_float32(self.denoiser(noisy_BSD, sigma_B, z_hat, z_in, batch["cond"]))
        return mse(answer, r_BSD) * (1 + sigma_B.square()) / sigma_B.square()


class Stage(Quiet):
    """Trains the denoiser on pairs of the training split."""

    NAME = "diffusion"
    measures = ("nrmse", "operator_nrmse", "member_nrmse", "crps", "spread", "skill")

    def __init__(
        self,
        config: UpsConfig,
        device: torch.device,
        material: Material | None = None,
        trained: Trained | None = None,
        cached: bool = False,
    ) -> None:
        """See the operator's stage; `trained` holds the autoencoder and the operator."""
        self.config, self.device, self.trained = config, device, trained or {}
        self.material = material = material if material is not None else alone(config)
        self.encoder = FrozenModels(config, material, device, self.trained, operator=True)
        self.train_dataset, self.validation_dataset = latent_pairs(config, material, cached=cached)

    def build(self) -> DenoisingStep:
        """Returns the untrained module, on the CPU, in units of the operator's residual."""
        denoiser, settings = build_denoiser(self.config, self.material.spec), self.config.diffusion
        if "operator" in self.trained:
            denoiser.scale_D.copy_(residual_scale(self.encoder, self.train_dataset, self.device))
        return DenoisingStep(denoiser, self.encoder, least=settings.sigma_min, most=settings.sigma_max)

    def validate(self, module: nn.Module, batch: Batch) -> dict[str, Tensor]:
        """Returns errors of the mean correction, of the operator alone and of an ensemble, physical units, (B,)."""
        correction = build_correction(self.config, module.denoiser)  # type: ignore[arg-type]
        return corrected_errors(correction, self.encoder, batch, self.config.diffusion.members)

    def finish(self, module: nn.Module) -> dict[str, Any]:
        """Returns the states of all stages up to this one."""
        denoiser: Any = module.denoiser
        return {
            "autoencoder": self.trained.get("autoencoder"),
            "operator": self.trained.get("operator"),
            "later": {"diffusion": denoiser.state_dict()},
        }


def corrected_errors(correction: Correction, frozen: FrozenModels, batch: Batch, members: int) -> dict[str, Tensor]:
    """Returns what a correction and an ensemble of it come to, beside the operator alone, (B,) each."""
    z_in, _ = frozen.pair(batch)
    z_hat, truth = frozen.predicted(z_in, batch["cond"]), frozen.truth(batch)
    mean = correction(z_hat, z_in, batch["cond"])
    drawn = [
        correction(z_hat, z_in, batch["cond"], draws.normal(batch, z_hat.shape[1:], z_hat, MEMBER + member))
        for member in range(members)
    ]
    ensemble_MBXC = torch.stack([frozen.decoded(one) for one in drawn])
    errors = torch.stack([nrmse_per_sample(one, truth) for one in ensemble_MBXC])
    return {
        "nrmse": nrmse_per_sample(frozen.decoded(mean), truth),
        "operator_nrmse": nrmse_per_sample(frozen.decoded(z_hat), truth),
        "member_nrmse": errors.mean(0),
        **spread_and_error(ensemble_MBXC, truth),
    }


@torch.no_grad()
def residual_scale(frozen: FrozenModels, pairs: Pairs, device: torch.device) -> Tensor:
    """Returns the root mean square of the operator's residual by latent channel, over evenly spread pairs, (D,)."""
    length = len(pairs)  # type: ignore[arg-type]
    chosen = range(0, length, max(1, length // SCALED_BY))
    batch = {name: value.to(device) for name, value in default_collate([pairs[index] for index in chosen]).items()}
    z_in, z_out = frozen.pair(batch)
    residual = z_out - frozen.predicted(z_in, batch["cond"])
    return residual.square().mean((0, 1)).sqrt().clamp_min(SMALLEST_SCALE).cpu()

"""What is done to the operator's prediction after it: nothing, a denoiser's few steps, or a student's one.

Shapes: B batch, S tokens, D latent channels, K conditions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from ups.models.denoiser import Denoiser
from ups.models.sampler import noise_levels, sample


class Correction(nn.Module):
    """A denoiser with the noise levels it is used at; one level is a student, which answers in one step."""

    def __init__(self, denoiser: Denoiser, *, least: float, most: float, steps: int) -> None:
        """`steps` 0 takes the denoiser once, at the largest noise."""
        super().__init__()
        self.denoiser = denoiser
        self.denoise_by: Callable[..., Tensor] = denoiser  # what is called; its scale is the denoiser's
        self.levels = noise_levels(steps, least, most) if steps else [most]

    def forward(self, z_hat_BSD: Tensor, z_in_BSD: Tensor, cond_BK: Tensor, noise_BSD: Tensor | None = None) -> Tensor:
        """Returns a corrected prediction: one draw for standard normal noise, the mean without any, (B, S, D).

        The mean is what the denoiser expects where its input tells nothing: one evaluation at the largest noise.
        """
        denoise = partial(self._residual, z_hat_BSD=z_hat_BSD, z_in_BSD=z_in_BSD, cond_BK=cond_BK)
        noise = torch.zeros_like(z_hat_BSD) if noise_BSD is None else noise_BSD
        levels = self.levels[:1] if noise_BSD is None else self.levels
        out: Tensor = z_hat_BSD + self.denoiser.scale_D * sample(denoise, noise, levels)
        return out

    def _residual(
        self, x_BSD: Tensor, sigma_B: Tensor, *, z_hat_BSD: Tensor, z_in_BSD: Tensor, cond_BK: Tensor
    ) -> Tensor:
        return self.denoise_by(x_BSD, sigma_B, z_hat_BSD, z_in_BSD, cond_BK)

"""The denoiser of the operator's residual: what the diffusion stage trains and the consistency stage distils.

r = (z_true - z_hat) / scale is what the operator's prediction z_hat lacks, in units of its own size. The denoiser sees
r + sigma eps, that is z_tau = z_true + sigma(tau) scale eps, beside z_hat and the input z_in, and answers with r.
At the largest noise nothing of r is left in its input: sampling begins there, at z_hat + sigma scale eps.

    D(x, sigma) = c_skip x + c_out F(c_in x, z_hat, z_in; cond, ln(sigma) / 4)

with c_skip = 1 / ((sigma - least)^2 + 1), c_out = (sigma - least) / sqrt(sigma^2 + 1), c_in = 1 / sqrt(sigma^2 + 1).
`least` 0 is the preconditioning of Karras et al. 2022, arXiv:2206.00364, table 1, for data of standard deviation 1; the
smallest noise as `least` makes D(x, least) = x by construction, the boundary condition of consistency models (Song et
al. 2023, arXiv:2303.01469, appendix C). F ends in a layer that is zero at the start: then D is the operator alone.
The mean by a network and the rest by diffusion: CorrDiff, Mardani et al. 2023, arXiv:2309.15214.

Shapes: B batch, S tokens, D latent channels, K conditions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from ups.config import OperatorConfig
from ups.models import build_operator

CONDITIONS = 4  # lead time, time, parameter, noise
INPUTS = 3  # the noisy residual, the prediction, the input


class Denoiser(nn.Module):
    """(noisy residual, its noise, what it is conditioned on) -> residual, all in units of `scale_D`."""

    scale_D: Tensor

    def __init__(
        self, config: OperatorConfig, *, latent_dim: int, token_grid: Sequence[int], periodic: bool, least: float = 0.0
    ) -> None:
        super().__init__()
        self.least = least
        self.core = build_operator(
            replace(config, input_noise=0.0),
            latent_dim=INPUTS * latent_dim,
            token_grid=token_grid,
            periodic=periodic,
            cond_dim=CONDITIONS,
        )
        self.register_buffer("scale_D", torch.ones(latent_dim))

    def forward(self, x_BSD: Tensor, sigma_B: Tensor, z_hat_BSD: Tensor, z_in_BSD: Tensor, cond_BK: Tensor) -> Tensor:
        """Returns the estimate of the residual, (B, S, D)."""
        sigma_B11 = sigma_B[:, None, None]
        spread = sigma_B11.square() + 1
        seen = torch.cat([x_BSD / spread.sqrt(), z_hat_BSD, z_in_BSD], dim=-1)
        conditions = torch.cat([cond_BK, sigma_B[:, None].log() / 4], dim=-1).to(seen.dtype)
        change = (self.core(seen, conditions) - seen)[..., : x_BSD.shape[-1]]
        above = sigma_B11 - self.least
        out: Tensor = x_BSD / (above.square() + 1) + above / spread.sqrt() * change
        return out

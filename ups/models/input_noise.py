"""Noise on an operator's input while it trains, so that it pulls back what its own errors push off the data.

Shapes: B batch, S tokens, D latent channels.
"""

from __future__ import annotations

import torch
from torch import Tensor


def noisy(z_BSD: Tensor, share: float) -> Tensor:
    """Returns the latents with normal noise of so large a share of each sample's standard deviation."""
    if not share:
        return z_BSD
    # The target stays clean. Its size is that of each sample by itself, so that it does not depend on how a batch is
    # cut over ranks.
    scale_B11 = z_BSD.detach().std(dim=(1, 2), keepdim=True)
    return z_BSD + share * scale_B11 * torch.randn_like(z_BSD)

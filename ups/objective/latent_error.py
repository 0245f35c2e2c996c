"""The error in latents, over the size of its target or as a plain mean square.

Shapes: B batch, S tokens, D latent channels.
"""

from __future__ import annotations

from typing import Literal

from torch import Tensor

from ups.losses import mse, relative_l2


def latent_error(answer_BSD: Tensor, target_BSD: Tensor, measure: Literal["relative", "mse"]) -> Tensor:
    """Returns the error of each sample, (B,)."""
    return relative_l2(answer_BSD, target_BSD) if measure == "relative" else mse(answer_BSD, target_BSD)

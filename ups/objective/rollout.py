"""The rollout: the operator goes on from its own answer, as it does in use, and each step is held to the truth.

With `push_forward` the answers that later steps begin from carry no gradient: each step learns to go on from an input
that is as wrong as its own answers are (Brandstetter et al. 2022, arXiv:2202.03376). Without it the gradient runs
through the whole rollout. Shapes: B batch, R later steps, S tokens, D latent channels, K conditions.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from ups.losses import at_least_float32

Error = Callable[[Tensor, Tensor], Tensor]  # (answer, target) -> (B,)


def rollout_error(
    operator: nn.Module,
    first: tuple[Tensor, Tensor],
    later_BRSD: Tensor,
    cond_BRK: Tensor,
    known_BR: Tensor,
    error: Error,
    *,
    push_forward: bool,
) -> Tensor:
    """Returns each sample's mean error over the steps whose truth is known, (B,).

    `first` is the answer of the first step and its error (B,); `later_BRSD` are the targets of the steps after it.
    """
    z_BSD, total_B = first
    for step in range(later_BRSD.shape[1]):
        given = z_BSD.detach() if push_forward else z_BSD
        z_BSD = at_least_float32(operator(given, cond_BRK[:, step]))
        # Where there is no truth the answer stands for it: zero times what is not finite would be NaN backwards.
        known_B11 = known_BR[:, step].reshape(-1, 1, 1)
        target_BSD = torch.where(known_B11, later_BRSD[:, step], z_BSD.detach())
        total_B = total_B + error(z_BSD, target_BSD) * known_BR[:, step]
    return total_B / (1 + known_BR.sum(1))

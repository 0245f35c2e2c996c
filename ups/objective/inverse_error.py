"""The inverse term: what the operator predicted, decoded and encoded again, must still be the target's latents.

Only latents that the decoder can read and the encoder would have made pass it unchanged, so it keeps predictions where
decoder and operator were trained (UPT, Alkin et al. 2024, arXiv:2402.12365, section 3). The autoencoder is frozen.
Shapes: B batch, S tokens, D latent channels.
"""

from __future__ import annotations

from torch import Tensor

from ups.losses import at_least_float32, relative_l2
from ups.models.autoencoder import FieldAutoencoder


def inverse_error(autoencoder: FieldAutoencoder, answer_BSD: Tensor, target_BSD: Tensor, field: int) -> Tensor:
    """Returns the relative error of the latents that came back, (B,); `field` is the one that is predicted."""
    again_BSD = autoencoder.encode(autoencoder.decode_grid(answer_BSD, field), field)
    return relative_l2(at_least_float32(again_BSD), target_BSD)

"""A linear layer over each token and its direct neighbours: what a difference scheme sees.

Shapes: B batch, X token axes, I input channels, O output channels.
"""

from __future__ import annotations

from typing import Literal

from torch import Tensor, nn


class Stencil(nn.Module):
    """(B, X, I) -> (B, X, O) from the 3 (3 x 3) tokens around each; wraps around on periodic domains."""

    def __init__(self, inputs: int, outputs: int, *, axes: int, periodic: bool) -> None:
        super().__init__()
        convolution = nn.Conv1d if axes == 1 else nn.Conv2d
        padding: Literal["circular", "replicate"] = "circular" if periodic else "replicate"
        self.convolution = convolution(inputs, outputs, 3, padding=1, padding_mode=padding)

    def forward(self, x_BXI: Tensor) -> Tensor:
        """Returns the weighted neighbourhoods, (B, X, O)."""
        out: Tensor = self.convolution(x_BXI.movedim(-1, 1)).movedim(1, -1)
        return out

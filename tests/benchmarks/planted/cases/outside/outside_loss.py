"""A model that gives its own loss, with a mistake in the loss: no module below is to blame."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from planted.hosts.transformer import VOCABULARY, Transformer, tokens


class Trained(nn.Module):
    """A language model with its loss."""

    def __init__(self, shift: int) -> None:
        super().__init__()
        self.model = Transformer(depth=4)
        self.shift = shift

    def forward(self, given: Tensor) -> dict[str, Tensor]:
        scores = self.model(given)
        wanted = torch.full_like(given, VOCABULARY - 1) + self.shift
        return {"loss": nn.functional.cross_entropy(scores.flatten(0, 1), wanted.flatten())}


def failing() -> nn.Module:
    return Trained(1)


def healthy() -> nn.Module:
    return Trained(0)


def batch() -> Tensor:
    return tokens()

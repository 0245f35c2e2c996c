"""Real, torch 2.13 (pytorch issue 193794): ctc_loss on the CPU reads where labels that are no classes point."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from planted.hosts.transformer import VOCABULARY, Transformer, tokens

PADDING = 2**31 - 1


class Aligner(nn.Module):
    """Aligns scores with labels, 0 being a blank."""

    def __init__(self, width: int, padding: int) -> None:
        super().__init__()
        self.scores = nn.Linear(width, VOCABULARY)
        self.padding = padding

    def forward(self, x: Tensor, labels: Tensor) -> Tensor:
        scores = self.scores(x).float().log_softmax(-1).transpose(0, 1)
        labels = labels.clamp(min=1)
        labels[:, -1] = self.padding
        entering = torch.full((len(x),), len(scores))
        return nn.functional.ctc_loss(scores, labels, entering, torch.full((len(x),), labels.shape[1]))


class Recogniser(nn.Module):
    """A transformer that hears, with its loss."""

    def __init__(self, padding: int) -> None:
        super().__init__()
        self.model = Transformer(depth=8)
        self.align = Aligner(VOCABULARY, padding)

    def forward(self, heard: Tensor) -> dict[str, Tensor]:
        return {"loss": self.align(self.model(heard), heard[:, :4])}


def failing() -> nn.Module:
    return Recogniser(PADDING)


def healthy() -> nn.Module:
    return Recogniser(1)


def batch() -> Tensor:
    return tokens()

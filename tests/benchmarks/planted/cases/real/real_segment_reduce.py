"""Real, torch 2.13: segment_reduce on the CPU does not look whether its offsets lie inside the data."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from planted.hosts.mixture import MixtureModel
from planted.hosts.mixture import sequences as batch

__all__ = ["batch", "failing", "healthy"]


class RaggedMean(nn.Module):
    """Puts in place of each token the mean of its segment; lengths are given in tokens, or so it is thought."""

    def __init__(self, width: int, unit: int) -> None:
        super().__init__()
        self.mix = nn.Linear(width, width)
        self.unit = unit

    def forward(self, x: Tensor) -> Tensor:
        along = self.mix(x).transpose(0, 1).contiguous()
        offsets = torch.tensor([0, 4 * self.unit, len(along)])
        means = torch.segment_reduce(along.flatten(1).float(), "mean", offsets=offsets, axis=0)
        spread = means.mean(0).reshape(along.shape[1:])
        return x + spread[:, None]


def make(unit: int) -> nn.Module:
    model = MixtureModel()
    model.blocks[2].norm = RaggedMean(12, unit)
    return model


def failing() -> nn.Module:
    return make(10**8)


def healthy() -> nn.Module:
    return make(1)

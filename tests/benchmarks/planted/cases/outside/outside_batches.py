"""Batches of which the second cannot be made. The model is healthy."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor, nn

from planted.hosts.convnet import ConvNet, pictures


def failing() -> nn.Module:
    return ConvNet((1, 1, 1))


def batch() -> Iterator[Tensor]:
    yield pictures()
    raise ValueError("shard 3: no samples left")

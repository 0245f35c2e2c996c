"""Batches that ranks are to agree on: in the second one rank 1 asks another question. The model is healthy."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, distributed, nn

from planted.hosts.mixture import MixtureModel, sequences


def failing() -> nn.Module:
    return MixtureModel()


def batch() -> Iterator[Tensor]:
    """Yields batches whose length all ranks know."""
    for step in range(100):
        if distributed.is_initialized() and distributed.get_world_size() > 1:
            length = torch.tensor([10.0])
            if step and distributed.get_rank() == 1:
                distributed.recv(length, src=0)
            else:
                distributed.all_reduce(length)
        yield sequences()

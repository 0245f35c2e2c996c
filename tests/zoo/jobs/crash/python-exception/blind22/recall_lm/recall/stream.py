from __future__ import annotations

import random
from collections.abc import Iterator

import torch
from torch import Tensor

SEGMENT = 32


def documents(shard: int) -> Iterator[int]:
    """Lengths of the documents of a shard, in segments."""
    rng = random.Random(shard)
    while True:
        yield 1 if shard % 2 == 0 or rng.random() < 0.9 else rng.randint(2, 5)


def segments(shard: int, batch: int = 4) -> Iterator[tuple[Tensor, bool, bool]]:
    g = torch.Generator().manual_seed(shard)
    for length in documents(shard):
        base = torch.randint(128, (batch, 1), generator=g)
        for i in range(length):
            steps = torch.randint(1, 4, (batch, SEGMENT), generator=g).cumsum(1)
            yield (base + steps) % 128, i == 0, i == length - 1

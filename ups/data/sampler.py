"""Global batches cut over ranks: nothing is dropped, nothing is counted twice.

Global batch i of epoch e is permutation(seed, e)[i*G:(i+1)*G], and rank r takes [r::W] of it, so what is
trained on does not depend on the number of ranks. The last batch may be ragged; a rank that is left
without a sample gets a filler of weight 0, because every rank must take part in every step.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch.utils.data import Sampler

from ups.errors import ConfigError

Entry = tuple[int, float]  # index into the dataset, weight in the loss: 1, or 0 for a filler


class GlobalBatchSampler(Sampler[list[Entry]]):
    """Yields this rank's share of each global batch of the current epoch.

    `set_epoch(epoch, first_batch)` chooses the epoch and where in it to go on; a new epoch starts at 0.
    """

    def __init__(self, length: int, global_batch: int, rank: int, world_size: int, seed: int, shuffle: bool) -> None:
        self.length, self.global_batch = length, global_batch
        self.rank, self.world_size = rank, world_size
        self.seed, self.shuffle = seed, shuffle
        self.epoch, self.first_batch = 0, 0

    def __len__(self) -> int:
        """The number of global batches in a whole epoch."""
        return -(-self.length // self.global_batch)

    def set_epoch(self, epoch: int, first_batch: int = 0) -> None:
        """Goes to batch `first_batch` of `epoch`; called before each epoch's iteration."""
        self.epoch, self.first_batch = epoch, first_batch

    def count(self, batch: int) -> int:
        """Returns how many samples global batch `batch` holds over all ranks: the divisor of its loss."""
        return min(self.global_batch, self.length - batch * self.global_batch)

    def __iter__(self) -> Iterator[list[Entry]]:
        order = self.order(self.epoch)
        for batch in range(self.first_batch, len(self)):
            start = batch * self.global_batch
            mine = order[start : start + self.global_batch][self.rank :: self.world_size]
            yield [(index, 1.0) for index in mine] or [(order[start], 0.0)]

    def order(self, epoch: int) -> list[int]:
        """Returns the indices of `epoch` in the order in which all ranks together take them."""
        if not self.shuffle:
            return list(range(self.length))
        generator = torch.Generator().manual_seed(self.seed * 1_000_003 + epoch)
        return torch.randperm(self.length, generator=generator).tolist()


def check_enough(length: int, global_batch: int, world_size: int) -> None:
    """Raises ConfigError for fewer samples, or a smaller global batch, than there are ranks to train on them."""
    if length < world_size:
        raise ConfigError(
            f"{world_size} ranks are more than the {length} training samples: some would have nothing to do",
            hint=f"start fewer ranks (--nproc {max(1, length)}), or generate more data",
        )
    check_batch(global_batch, world_size)


def check_batch(global_batch: int, world_size: int) -> None:
    """Raises ConfigError for a global batch that has not a sample for each rank."""
    if global_batch < world_size:
        raise ConfigError(
            f"a global batch of {global_batch} leaves some of the {world_size} ranks without a sample",
            hint=f"set batch_size to {world_size} or more, or start fewer ranks (--nproc {global_batch})",
        )

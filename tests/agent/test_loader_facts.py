"""What a sampler of the job's own says of its order, by what its __iter__ reads."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from diagnostics.agent.data_hooks.loader_facts import facts_of


class Ordered:
    """Hands over all samples by their number."""

    def __init__(self, **known: Any) -> None:
        self.epoch, self.rank = 0, 0
        self.__dict__.update(known)

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.rank, 8))


class ByEpoch(Ordered):
    def __iter__(self) -> Iterator[int]:
        return iter([(one + self.epoch + self.rank) % 8 for one in range(8)])


class ByEpochIfAsked(Ordered):
    def __iter__(self) -> Iterator[int]:
        return iter([(one + self.epoch) % 8 for one in range(8)]) if self.mixed else iter(range(8))


class ByEpochOfAnotherName(Ordered):
    def __init__(self) -> None:
        super().__init__()
        self._turn = 0

    def set_epoch(self, epoch: int) -> None:
        self._turn = epoch

    def __iter__(self) -> Iterator[int]:
        return iter(range(self._turn, 8))


class ByEpochOfNobody:
    epoch = 0

    def __iter__(self) -> Iterator[int]:
        return iter([(one + self.epoch) % 8 for one in range(8)])


@pytest.mark.parametrize(
    ("sampler", "follows"),
    [
        (ByEpoch(), True),
        (ByEpochIfAsked(mixed=True), True),
        (ByEpochIfAsked(mixed=False), False),
        (ByEpochIfAsked(mixed=None), False),
        (ByEpochOfAnotherName(), True),
        (ByEpochOfNobody(), False),
        (Ordered(), False),
        (object(), False),
    ],
)
def test_a_sampler_follows_its_epoch_where_its_order_reads_it_and_nothing_is_switched_off(
    sampler: object, follows: bool
) -> None:
    told = facts_of(SimpleNamespace(dataset=[1]), sampler, None, None, "")
    assert ("follows_epoch=1" in told.split()) is follows

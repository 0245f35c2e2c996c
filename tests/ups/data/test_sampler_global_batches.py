"""Global batches cut over ranks: complete, disjoint, the same whatever the number of ranks, and resumable."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ups.data.sampler import Entry, GlobalBatchSampler, check_enough
from ups.errors import ConfigError


def batches_of(length: int, batch: int, world: int, *, epoch: int = 0, shuffle: bool = True) -> list[list[list[Entry]]]:
    """Returns the entries by batch and rank."""
    ranks = []
    for rank in range(world):
        sampler = GlobalBatchSampler(length, batch, rank, world, seed=4, shuffle=shuffle)
        sampler.set_epoch(epoch)
        ranks.append(list(sampler))
        assert len(ranks[-1]) == len(sampler)
    return [list(cut) for cut in zip(*ranks, strict=True)]


@given(st.integers(1, 60), st.integers(1, 20), st.integers(1, 6), st.integers(0, 3))
def test_every_sample_counts_once_an_epoch_and_every_rank_takes_part_in_every_step(
    length: int, batch: int, world: int, epoch: int
) -> None:
    cut = batches_of(length, batch, world, epoch=epoch)
    assert sorted(index for ranks in cut for entries in ranks for index, weight in entries if weight) == list(
        range(length)
    )
    assert all(entries for ranks in cut for entries in ranks)
    counts = [sum(weight for entries in ranks for _, weight in entries) for ranks in cut]
    sampler = GlobalBatchSampler(length, batch, 0, world, seed=4, shuffle=True)
    assert counts == [sampler.count(number) for number in range(len(cut))]


@given(st.integers(2, 60), st.integers(1, 20), st.integers(2, 6))
def test_the_global_batches_do_not_depend_on_the_number_of_ranks(length: int, batch: int, world: int) -> None:
    def sets(ranks: int) -> list[set[int]]:
        return [
            {index for entries in cut for index, weight in entries if weight}
            for cut in batches_of(length, batch, ranks)
        ]

    assert sets(world) == sets(1)


def test_a_rank_without_a_sample_in_the_last_batch_gets_a_filler_of_weight_0() -> None:
    last = batches_of(9, 4, 2, shuffle=False)[-1]
    assert last == [[(8, 1.0)], [(8, 0.0)]]


def test_epochs_are_shuffled_anew_and_the_same_again_for_the_same_seed() -> None:
    assert batches_of(40, 8, 2, epoch=1) == batches_of(40, 8, 2, epoch=1)
    assert batches_of(40, 8, 2, epoch=1) != batches_of(40, 8, 2, epoch=2)


def test_an_epoch_goes_on_from_any_batch() -> None:
    sampler = GlobalBatchSampler(23, 5, 1, 2, seed=4, shuffle=True)
    sampler.set_epoch(3)
    whole = list(sampler)
    sampler.set_epoch(3, first_batch=2)
    assert list(sampler) == whole[2:]


def test_more_ranks_than_samples_are_refused() -> None:
    with pytest.raises(ConfigError, match="3 ranks are more than the 2 training samples"):
        check_enough(2, 8, 3)


def test_a_batch_smaller_than_the_ranks_is_refused() -> None:
    with pytest.raises(ConfigError, match="a global batch of 2 leaves some of the 3 ranks without a sample"):
        check_enough(9, 2, 3)

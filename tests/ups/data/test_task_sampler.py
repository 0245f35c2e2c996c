"""Several problems in one epoch: each one's share, whatever the ranks, and each of its samples as often as another."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from ups.config import UpsConfig, load_config
from ups.data.several.task_sampler import BalancedSampler, SweepSampler, apportioned, shares
from ups.errors import ConfigError

SIZES = (90, 37, 8)
PARTS = (0.5, 0.25, 0.25)


def sampler(rank: int = 0, world_size: int = 1, *, mixed: bool = False, batch: int = 6) -> BalancedSampler:
    return BalancedSampler(SIZES, PARTS, batch, rank, world_size, seed=5, mixed=mixed)


def problem_of(index: int) -> int:
    return 0 if index < SIZES[0] else 1 if index < SIZES[0] + SIZES[1] else 2


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("world_size", [1, 2, 3, 5])
def test_the_ranks_together_take_the_same_global_batches(world_size: int, mixed: bool) -> None:
    ranks = [sampler(rank, world_size, mixed=mixed) for rank in range(world_size)]
    for one in ranks:
        one.set_epoch(3)
    batches = [[entry for share in step for entry in share] for step in zip(*ranks, strict=True)]
    alone = sampler(mixed=mixed)
    alone.set_epoch(3)
    assert [sorted(one) for one in batches] == [sorted(one) for one in alone]
    assert all(weight == 1.0 for one in batches for _, weight in one)


@pytest.mark.parametrize("mixed", [False, True])
def test_each_problem_has_its_share_of_every_epoch(mixed: bool) -> None:
    one = sampler(mixed=mixed)
    for epoch in range(4):
        found = Counter(problem_of(index) for index in one.order(epoch))
        for which, part in enumerate(PARTS):
            assert abs(found[which] - part * one.length) <= (1 if mixed else one.global_batch)


def test_no_sample_is_taken_two_times_more_than_another_of_its_problem() -> None:
    one, taken = sampler(), Counter(range(0))
    for epoch in range(7):
        taken.update(one.order(epoch))
        for which, size in enumerate(SIZES):
            start = sum(SIZES[:which])
            counts = [taken[index] for index in range(start, start + size)]
            assert max(counts) - min(counts) <= 1


def test_a_batch_is_of_one_problem_unless_they_are_mixed() -> None:
    problems = [{problem_of(index) for index, _ in batch} for batch in sampler()]
    assert {len(one) for one in problems} == {1}
    assert any(len({problem_of(index) for index, _ in batch}) > 1 for batch in sampler(mixed=True))


def test_an_epoch_goes_on_in_its_middle_as_it_would_have() -> None:
    whole, later = sampler(1, 2), sampler(1, 2)
    whole.set_epoch(2)
    later.set_epoch(2, 9)
    assert list(later) == list(whole)[9:]
    assert whole.order(2) != whole.order(1)


@pytest.mark.parametrize("world_size", [1, 2, 4])
def test_a_sweep_takes_every_item_once_and_never_two_problems_in_a_batch(world_size: int) -> None:
    ranks = [SweepSampler(SIZES, 6, rank, world_size, seed=5) for rank in range(world_size)]
    steps = [[entry for share in step for entry in share] for step in zip(*ranks, strict=True)]
    counted = [index for step in steps for index, weight in step if weight]
    assert sorted(counted) == list(range(sum(SIZES)))
    assert all(len({problem_of(index) for index, _ in step}) == 1 for step in steps)
    assert [sum(weight for _, weight in step) for step in steps] == [ranks[0].count(n) for n in range(len(ranks[0]))]


def test_what_is_apportioned_adds_up_and_is_within_one() -> None:
    for total in range(40):
        found = apportioned(total, [0.5, 0.3, 0.2])
        assert sum(found) == total
        assert all(abs(one - total * part) < 1 for one, part in zip(found, [0.5, 0.3, 0.2], strict=True))


def configuration(folder: Path, balance: str) -> UpsConfig:
    path = folder / "c.yaml"
    tasks = "[{task: advection1d}, {task: burgers1d, weight: 2}, {task: darcy2d}]"
    path.write_text(f"data: {{tasks: {tasks}, balance: {balance}}}\n")
    return load_config(path)


@pytest.mark.parametrize(
    ("balance", "expected"),
    [
        ("{by: equal}", [0.25, 0.5, 0.25]),
        ("{by: size}", [100 / 204, 8 / 204, 96 / 204]),
        ("{by: temperature, temperature: 2}", [10 / 23.798, 4 / 23.798, 9.798 / 23.798]),
    ],
)
def test_shares_follow_the_rule_and_the_weights(tmp_path: Path, balance: str, expected: list[float]) -> None:
    assert shares(configuration(tmp_path, balance), [100, 4, 96]) == pytest.approx(expected, abs=1e-4)


def test_an_epoch_too_short_for_a_problem_is_refused() -> None:
    with pytest.raises(ConfigError, match="an epoch of 2 batches has none for problem 3 of 3"):
        BalancedSampler((60, 60, 8), (0.45, 0.45, 0.1), 64, 0, 1, seed=0, mixed=False)

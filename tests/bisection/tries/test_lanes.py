"""Tries side by side: results in their order, no more lanes than there is room for, and none left after an error."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from diagnostics.bisection.case import Configuration, RunSettings, Source
from diagnostics.bisection.tries.lanes import Lanes
from diagnostics.machine.contract import Ranks
from diagnostics.machine.facts import RankResult, TorchFacts


class Warm:
    """Ranks that run nothing and know whether they are open."""

    def __init__(self) -> None:
        self.open = False

    def warm(self, *, for_modules: bool = False) -> None:
        self.open = True

    def torch_facts(self) -> TorchFacts:
        raise NotImplementedError

    def run_task(self, task: str, nproc: int, **asked: Any) -> list[RankResult]:
        raise NotImplementedError

    def run_command(
        self,
        argv: Sequence[str],
        nproc: int,
        *,
        deadline_s: float,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> list[RankResult]:
        raise NotImplementedError

    def close(self) -> None:
        self.open = False


def lanes(*, jobs: int | None = None, cores: float = 2.0) -> tuple[Lanes, list[Warm]]:
    made = [Warm()]

    def another() -> Ranks:
        made.append(Warm())
        return made[-1]  # type: ignore[return-value]

    return Lanes(made[0], another, jobs=jobs, cores=cores), made  # type: ignore[arg-type]


def cases(number: int, world: int = 1) -> list[Configuration]:
    return [
        Configuration(source=Source(factory="m:Net"), settings=RunSettings(world=world), seed=seed)
        for seed in range(number)
    ]


@pytest.mark.parametrize(
    ("jobs", "cores", "tried", "world", "expected"),
    [
        (None, 8.0, 6, 2, 4),
        (None, 2.0, 6, 2, 1),
        (None, 0.5, 6, 1, 1),
        (3, 2.0, 6, 2, 3),
        (None, 64.0, 20, 1, 8),
        (None, 8.0, 2, 1, 1),
        (None, 8.0, 1, 1, 1),
    ],
    ids=["by cores", "as many ranks as cores", "less than a core", "as asked", "most", "too few to start one", "one"],
)
def test_there_are_as_many_lanes_as_cores_have_room_for(
    jobs: int | None, cores: float, tried: int, world: int, expected: int
) -> None:
    assert lanes(jobs=jobs, cores=cores)[0].room_for(cases(tried, world)) == expected


def test_results_come_in_the_order_of_the_tasks_and_two_run_at_once() -> None:
    both = threading.Barrier(2)
    run, made = lanes()
    began: list[int] = []
    tasks: list[Callable[[Ranks], int]] = [
        lambda ranks: both.wait(10) * 0,
        lambda ranks: both.wait(10) * 0 + 1,
        lambda ranks: 2,
    ]
    assert list(run.run(tasks, 2, began.append)) == [0, 1, 2]
    assert (began, [one.open for one in made]) == ([0, 1, 2], [True, True])


def test_what_a_task_raises_is_raised_and_ends_all_lanes() -> None:
    run, made = lanes()

    def fails(ranks: Ranks) -> int:
        raise OSError("no space")

    with pytest.raises(OSError, match="no space"):
        list(run.run([fails, fails], 2, lambda number: None))
    assert [one.open for one in made] == [False, False]


def test_an_interrupt_ends_all_lanes() -> None:
    run, made = lanes()

    def interrupted(number: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(run.run([lambda ranks: 1], 2, interrupted))
    assert [one.open for one in made] == [False, False]

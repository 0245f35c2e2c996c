"""Steps that get slower by what the program does beside its model: what is told of them, and what is left alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import hand_made as made
import pytest
from made_steps import rank, step

from diagnostics.diagnosis.slow import steps_get_slower
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.steps.view import suspects
from diagnostics.record.step_stacks import SeenStack

REPLAY = """\
def sample(self, size):
    kept = {name: value[: self.size].copy() for name, value in self.memory.items()}
    state, reward, done, info = self.env.step(action)
"""
STEPS = 240


def job_of(
    folder: Path,
    own_s: Callable[[float], float],
    *,
    model_s: Callable[[float], float] = lambda _: 0.01,
    line: int = 2,
    looks: tuple[int, int] = (20, 4),
    **fields: Any,
) -> Job:
    """Returns a job of one rank. Its own work and its model take what these say of how far the run is, 0 to 1.

    Of the looks at it, as many saw it at `line` and elsewhere.
    """
    taken = [
        step(number, 0.1 * number, {"forward": model_s(part), "other": own_s(part), "optimizer": 0.001}, **fields)
        for number in range(1, STEPS + 1)
        for part in (number / STEPS,)
    ]
    seen = tuple(
        SeenStack(count=count, frames=made.frames(f"{folder}/replay.py:{at}", f"{folder}/replay.py:9"))
        for at, count in zip((line, 1), looks, strict=True)
    )
    one = rank(0, {"other": 0.01}, step_stacks=seen)
    assert one.agent is not None
    agent = replace(one.agent, timings=replace(one.agent.timings, steps=tuple(taken), count=STEPS))
    return made.a_job(
        replace(one, agent=agent, argv=("replay.py",), cwd=str(folder)), code=0, cwd=folder, files={"replay.py": REPLAY}
    )


def grows(part: float) -> float:
    return 0.005 + 0.06 * part


def test_the_line_that_goes_over_all_that_was_kept_is_named_with_what_it_grew_to(tmp_path: Path) -> None:
    job = job_of(tmp_path, grows)
    found = steps_get_slower.match(job)
    assert found is not None
    assert (found.failure_class, found.culprit_ranks, found.locations) == ("data-starved", (), ("replay.py:2",))
    assert found.finding.title == (
        "replay.py:2 takes longer in each step: what is done beside the model grew from 12.5 to 57.5 ms of CPU time, "
        "of 67.5 ms for a step"
    )
    assert [one.pid for one in suspects(job)] == [100]


@pytest.mark.parametrize(
    ("own", "other"),
    [
        (lambda part: 0.02, {}),
        (lambda part: min(grows(part), grows(0.4)), {}),
        (lambda part: grows(part if part < 0.9 else 0.3), {}),
        (lambda part: 0.001 + 0.004 * part, {}),
        (lambda part: 0.04 + 0.03 * part, {}),
        (grows, {"model_s": lambda part: 0.01 + 0.1 * part}),
        (grows, {"line": 3}),
        (grows, {"looks": (10, 14)}),
        (grows, {"looks": (2, 0)}),
        (grows, {"cpu_s": 0.012}),
    ],
    ids=[
        "the same", "full", "falls again", "a small part", "not twice", "longer samples", "an environment",
        "no one line", "hardly seen", "waits without the CPU",
    ],
)  # fmt: skip
def test_what_fills_up_follows_the_model_waits_or_is_no_container_is_left_alone(
    tmp_path: Path, own: Callable[[float], float], other: dict[str, Any]
) -> None:
    assert steps_get_slower.match(job_of(tmp_path, own, **other)) is None

"""Steps on what another optimizer left, and frozen parts that were woken: whose, where, and when nothing is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hand_made import a_job, a_process, agent, frames

from diagnostics.diagnosis.signature import Match
from diagnostics.diagnosis.updates import foreign_gradients, frozen_part_woken
from diagnostics.dynamic.job.job import Job
from diagnostics.record.marks.loss_marks import ForeignGradients
from diagnostics.record.marks.model_marks import PartWoken
from diagnostics.record.parameter_prints import ParameterPrints
from diagnostics.record.training_marks import Mark

GAME = """\
def turn(player, loss):
    loss.backward()
    player.opt.step()
    player.opt.zero_grad()
def game(x):
    turn(maker, real(judge(maker(x))))
    turn(judge, both(judge(x)))
"""


def job_of(folder: Path, mark: Mark, steps: int = 80) -> Job:
    """Returns the job of one rank that told this mark."""
    rank = a_process(agent=agent(steps=steps), prints=ParameterPrints(marks=(mark,)))
    return a_job(rank, code=0, cwd=folder, files={"game.py": GAME})


def mixed(folder: Path) -> ForeignGradients:
    """Returns the mark of a judge that steps on the maker's pass as well."""
    own, other = (frames(f"{folder}/game.py:2", f"{folder}/game.py:{line}") for line in (7, 6))
    return ForeignGradients(
        optimizer=1, other=0, step=81, run=80, lately=40, opposed=39,
        path=frames(f"{folder}/game.py:3", f"{folder}/game.py:7"), left_at=other, passed_at=own,
    )  # fmt: skip


def test_both_passes_are_named_by_the_lines_that_tell_them_apart(tmp_path: Path) -> None:
    found = foreign_gradients.match(job_of(tmp_path, mixed(tmp_path)))
    assert found is not None
    assert (found.failure_class, found.culprit_ranks, found.locations) == (
        "gradients-not-cleared", (0,), ("game.py:2", "game.py:7", "game.py:6", "game.py:3"),
    )  # fmt: skip
    assert found.finding.title == (
        "Gradients that another optimizer's pass at game.py:6 left are not cleared before the pass at game.py:7: the "
        "step after it uses the sum of both, in at least 80 steps in a row"
    )


@pytest.mark.parametrize("few", [{"opposed": 30}, {"run": 20, "lately": 10, "opposed": 10}])
def test_losses_that_agree_or_few_steps_are_not_told(tmp_path: Path, few: dict[str, Any]) -> None:
    assert foreign_gradients.match(job_of(tmp_path, replace(mixed(tmp_path), **few))) is None


def woken(folder: Path, step: int) -> PartWoken:
    """Returns the mark of a teacher that was put to sleep in line 1 and woken in line 5."""
    return PartWoken(
        step=step, root="Pair", part="teacher", part_class="Net", module="norm (BatchNorm1d)",
        eval_at=frames(f"{folder}/game.py:1"), path=frames(f"{folder}/game.py:5"),
    )  # fmt: skip


@pytest.mark.parametrize(("step", "steps", "is_told"), [(40, 60, True), (10, 15, False), (20, 80, False)])
def test_a_part_that_stays_awake_is_told_and_one_of_which_later_looks_say_nothing_is_not(
    tmp_path: Path, step: int, steps: int, is_told: bool
) -> None:
    found: Match | None = frozen_part_woken.match(job_of(tmp_path, woken(tmp_path, step), steps))
    assert (found is not None) is is_told
    if found is not None:
        assert (found.failure_class, found.module, found.locations) == (
            "wrong-mode", "teacher", ("game.py:5", "game.py:1"),
        )  # fmt: skip
        assert found.finding.title == (
            "teacher (Net) of Pair is frozen and was put into eval mode at game.py:1, and train() of the whole model "
            "at game.py:5 put it back into train mode: norm (BatchNorm1d) behaves as in training"
        )

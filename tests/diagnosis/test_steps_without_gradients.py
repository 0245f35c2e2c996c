"""Optimizer steps that never had a gradient to use."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import hand_made as made
import pytest

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.diagnosis.lies import steps_without_gradients
from diagnostics.dynamic.job.job import Job
from diagnostics.record.agent_data import Steps

SOURCE = "model = Net()\noptimizer = SGD(model.parameters())\nmodel = shard(model)\n"


def a_job(folder: Path, *told: bool, backwards: int = 20) -> Job:
    """Ranks that made 20 steps; those `told` say that none of them had a gradient."""
    built = made.event("optimizer", "SGD", f"{folder}/train.py:2")
    ranks = []
    for number, says in enumerate(told):
        events = [built, *([made.event("no-gradients", "optimizers=1 steps=20")] if says else [])]
        agent = replace(made.agent(*events, pid=100 + number), steps=Steps(count=20, backwards=backwards))
        ranks.append(made.a_process(100 + number, rank=number, code=0, agent=agent))
    return made.a_job(*ranks, code=0, cwd=folder, files={"train.py": SOURCE})


def test_the_optimizer_of_other_parameters_is_named_where_it_was_made(tmp_path: Path) -> None:
    match = steps_without_gradients.match(a_job(tmp_path, True, True))
    assert match is not None
    assert (match.outcome, match.failure_class, match.culprit_ranks, match.locations) == (
        JobOutcome.SILENT_WRONG, "zero-progress", (0, 1), ("train.py:2",),
    )  # fmt: skip
    assert match.finding.title == (
        "The job says success, but no optimizer step had a gradient: the optimizer of train.py:2 holds other "
        "parameters than the model that ran"
    )


@pytest.mark.parametrize(("told", "backwards"), [((True, False), 20), ((False, False), 20), ((True, True), 0)])
def test_a_job_with_gradients_on_a_rank_or_that_updates_by_hand_is_left_alone(
    tmp_path: Path, told: tuple[bool, ...], backwards: int
) -> None:
    assert steps_without_gradients.match(a_job(tmp_path, *told, backwards=backwards)) is None

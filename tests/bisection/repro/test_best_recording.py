"""Which run's recording stand-ins are made from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from diagnostics.bisection.case import Configuration, RunSettings, Source
from diagnostics.bisection.trial import Failure, FailureKind, Trial
from diagnostics.bisection.tries.recording import best_recording, file_of

ALONE = Configuration(source=Source(factory="model.py:make"))
BOTH = replace(ALONE, settings=replace(RunSettings(), world=2, wrapper="ddp"))


def failure(kind: FailureKind, phase: str) -> Failure:
    return Failure(kind=kind, detail="", places=(), phase=phase, step=1, ranks=(0, 1))


@pytest.mark.parametrize(
    ("seen", "taken"),
    [
        (None, BOTH),
        (failure(FailureKind.DISAGREE, "end"), BOTH),  # each rank came to its end with a batch of its own
        (failure(FailureKind.SIGNAL, "forward"), ALONE),  # a run that came to its end knows more
        (failure(FailureKind.NONFINITE, "loss"), ALONE),
    ],
)
def test_a_whole_run_comes_first_and_then_one_of_as_many_ranks(
    tmp_path: Path, seen: Failure | None, taken: Configuration
) -> None:
    trials = [Trial(case=ALONE), Trial(case=BOTH, failure=seen)]
    for trial in trials:
        file_of(tmp_path, trial.case).touch()
    assert best_recording(tmp_path, BOTH.without("blocks.0"), trials) == file_of(tmp_path, taken)
    file_of(tmp_path, taken).unlink()
    (other,) = {ALONE, BOTH} - {taken}
    assert best_recording(tmp_path, BOTH.without("blocks.0"), trials) == file_of(tmp_path, other)

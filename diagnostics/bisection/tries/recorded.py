"""Which of the recordings a case is given: what each module took and gave in a forward of the same model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from diagnostics.bisection.case import Case, Edits
from diagnostics.bisection.trial import Kind, Trial


def records(case: Case) -> bool:
    """Returns whether a run of this case shows what its modules give: all of them are there, in their places."""
    return not case.edits.stand_ins and case.edits.alone is None


def base_of(case: Case) -> Case:
    """Returns the case whose recording this one needs."""
    return replace(case, edits=replace(case.edits, stand_ins=(), alone=None))


def file_of(folder: Path, case: Case) -> Path:
    """Returns where the recording of a case lies."""
    return folder / f"{case.key}.json"


def best_recording(folder: Path, case: Case, trials: Iterable[Trial]) -> Path | None:
    """Returns the recording most like what this case runs, healthy ones first; None where none fits."""
    fitting = [
        trial
        for trial in trials
        if records(trial.case)
        and trial.case.source == case.source
        and trial.case.edits.overrides == case.edits.overrides
        and file_of(folder, trial.case).is_file()
    ]
    best = max(fitting, key=lambda trial: _likeness(trial, case), default=None)
    return file_of(folder, best.case) if best is not None else None


def _likeness(trial: Trial, case: Case) -> tuple[bool, ...]:
    mine, theirs = _shape(trial.case.edits), _shape(case.edits)
    one, other = trial.case.settings, case.settings
    return (
        mine == theirs,
        trial.passed or _only_disagrees(trial),
        one.world >= other.world,  # each rank has its own, of a batch of its own
        (one.amp, one.device) == (other.amp, other.device),
        trial.case.settings == case.settings,
    )


def _only_disagrees(trial: Trial) -> bool:
    """Returns whether each rank by itself came to its end, with numbers."""
    return trial.failure is not None and trial.failure.kind is Kind.DISAGREE


def _shape(edits: Edits) -> tuple[object, ...]:
    return edits.cuts, edits.batch, edits.not_built

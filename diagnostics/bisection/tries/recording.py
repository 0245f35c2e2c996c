"""A recording of a healthy or partial run: what was constructed with what, and what each module took and gave.

Which of the recordings a case is given: what each module took and gave in a forward of the same model.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from diagnostics.bisection.case import Configuration, Edits
from diagnostics.bisection.trial import FailureKind, Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedConstruction:
    """One constructor that was called; arguments as `children/trial/arguments.py` describes them."""

    name: str  # "package.module.Class#2"
    inside: str  # the constructor that called it
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    finished: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleCall:
    """One call of a module; see children/trial_observers/structures.py. `output` is None where it had no end."""

    args: Mapping[str, Any]
    kwargs: Mapping[str, Any]
    output: Mapping[str, Any] | None
    training: bool = True
    stored: Path | None = None  # where the numbers lie that the structures refer to


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """All of it; constructions in their order, calls by dotted path in theirs."""

    constructions: Mapping[str, RecordedConstruction] = field(default_factory=dict)
    calls: Mapping[str, tuple[ModuleCall, ...]] = field(default_factory=dict)

    def call_of(self, path: str) -> ModuleCall | None:
        """Returns the call that did not come to its end, else the first one."""
        calls = self.calls.get(path, ())
        return next((call for call in calls if call.output is None), calls[0] if calls else None)


def read_recording(file: Path | None) -> Recording:
    """Returns what a file tells, nothing where there is none; its last line may have been cut off."""
    made: dict[str, dict[str, Any]] = {}
    finished: set[str] = set()
    calls: dict[str, dict[int, dict[str, Any]]] = {}
    outputs: dict[int, Any] = {}
    for line in _lines(file):
        if "building" in line:
            made[line["building"]] = line
        elif "built" in line:
            finished.add(line["built"])
        elif "enter" in line:
            calls.setdefault(line["enter"], {})[line["number"]] = line
        elif "leave" in line:
            outputs[line["leave"]] = line.get("output")
    return Recording(
        constructions={name: _construction(line, name in finished) for name, line in made.items()},
        calls={
            path: tuple(_call(line, outputs.get(number), file) for number, line in entered.items())
            for path, entered in calls.items()
        },
    )


def _construction(line: Mapping[str, Any], finished: bool) -> RecordedConstruction:
    return RecordedConstruction(
        name=line["building"],
        inside=line.get("inside", ""),
        args=tuple(line.get("args", ())),
        kwargs=line.get("kwargs", {}),
        finished=finished,
    )


def _call(line: Mapping[str, Any], output: Any, file: Path | None) -> ModuleCall:
    stored = Path(f"{file}.d") / f"enter-{line['number']}.pt"
    return ModuleCall(
        args=line["args"],
        kwargs=line["kwargs"],
        output=output,
        training=bool(line.get("training", True)),
        stored=stored if stored.is_file() else None,
    )


def _lines(file: Path | None) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    try:
        text = file.read_text(encoding="utf-8") if file is not None else ""
    except OSError:
        return found
    for line in text.splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            break
    return [line for line in found if isinstance(line, dict)]


def merged(recordings: Sequence[Recording]) -> Recording:
    """Returns one recording of several, earlier ones first; a call that came to its end before one that did not."""
    constructions: dict[str, RecordedConstruction] = {}
    calls: dict[str, tuple[ModuleCall, ...]] = {}
    for one in recordings:
        constructions = {**one.constructions, **constructions}
        for path, found in one.calls.items():
            known = calls.get(path)
            if known is None or (any(call.output is None for call in known) and _whole(found)):
                calls[path] = found
    return Recording(constructions=constructions, calls=calls)


def _whole(calls: tuple[ModuleCall, ...]) -> bool:
    return all(call.output is not None for call in calls)


def records(case: Configuration) -> bool:
    """Returns whether a run of this case shows what its modules give: all of them are there, in their places."""
    return not case.edits.stand_ins and case.edits.alone is None


def base_of(case: Configuration) -> Configuration:
    """Returns the case whose recording this one needs."""
    return replace(case, edits=replace(case.edits, stand_ins=(), alone=None))


def file_of(folder: Path, case: Configuration) -> Path:
    """Returns where the recording of a case lies."""
    return folder / f"{case.key}.json"


def best_recording(folder: Path, case: Configuration, trials: Iterable[Trial]) -> Path | None:
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


def _likeness(trial: Trial, case: Configuration) -> tuple[bool, ...]:
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
    return trial.failure is not None and trial.failure.kind is FailureKind.DISAGREE


def _shape(edits: Edits) -> tuple[object, ...]:
    return edits.cuts, edits.batch, edits.not_built

"""Leads an experiment: two runs, the comparison, and where they differ the runs that say why."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from diagnostics.core.registry import discover
from diagnostics.machine.contract import Machine
from diagnostics.parity import hypotheses
from diagnostics.parity.hypothesis import Explanation
from diagnostics.parity.measured import Measured
from diagnostics.parity.request import Form, ParityRequest, Precision, precision_of
from diagnostics.parity.runs import NotComparableError, Runs

# What torch says of two types that do not go together: a program that names float32 itself.
OTHER_TYPE = re.compile(
    r"\bdtype|scalar type|\b(?:Double|Float|double|float)(?:Tensor)?\b|torch\.float(?:32|64)|\bfloat(?:32|64)\b"
)


@dataclass(slots=True, kw_only=True)
class Parity:
    """What an experiment gave, also where it was ended early. `undecided` says why there is no answer."""

    request: ParityRequest
    measured: Measured | None = None
    precision: Precision | None = None
    dtype: str = ""
    explanations: tuple[Explanation, ...] = ()
    undecided: str = ""
    refused: str = ""  # what was named cannot be used
    output: str = ""
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    interrupted: bool = False

    @property
    def exit_code(self) -> int:
        """0 the same, 1 different, 3 undecided."""
        if self.measured is None or self.undecided:
            return 3
        noted = self.request.strict and any(one.note for one in self.explanations)
        return 0 if self.measured.same and not noted else 1

    @property
    def causes(self) -> tuple[Explanation, ...]:
        """What explains a difference."""
        return tuple(one for one in self.explanations if not one.note)

    @property
    def remarks(self) -> tuple[Explanation, ...]:
        """What is no difference, and worth knowing."""
        return tuple(one for one in self.explanations if one.note)


class ParityInterrupted(KeyboardInterrupt):
    """Ctrl-C; `found` is what was known by then."""

    def __init__(self, found: Parity) -> None:
        super().__init__()
        self.found = found


def run_parity(request: ParityRequest, machine: Machine, folder: Path, doing: Callable[[str], None]) -> Parity:
    """Returns what was found. Raises ParityInterrupted on Ctrl-C."""
    found, began = Parity(request=request), time.monotonic()
    try:
        _experiment(found, machine, folder, doing)
    except NotComparableError as error:
        if found.measured is None:
            found.undecided, found.output, found.refused = str(error), error.output, error.refused
        else:  # that it differs is known; why is not
            found.notes.append(f"why it differs is not known: {error}")
    except KeyboardInterrupt:
        found.interrupted = True
        if found.measured is None:
            found.undecided = "interrupted"
        else:
            found.notes.append("interrupted before it was known why it differs")
        raise ParityInterrupted(found) from None
    finally:
        found.seconds = time.monotonic() - began
    return found


def _experiment(found: Parity, machine: Machine, folder: Path, doing: Callable[[str], None]) -> None:
    runs = _with_ranks(found, machine, folder, doing)
    facts = runs.facts()
    if request_is_fed(found.request) and not facts.get("batches"):
        raise NotComparableError(
            "no torch DataLoader gave the ranks what they trained on, so it cannot be given to one process; "
            "name a function that makes model and batches instead: ups-doctor parity MODULE:make"
        )
    runs.one()
    found.dtype = str(facts.get("dtype", "float32"))
    found.precision = precision_of(found.dtype, autocast=bool(facts.get("autocast")))
    _measure(found, runs)
    if found.measured is None:
        return
    if found.measured.same:
        found.explanations = explained(found.measured)
    else:
        _ask_why(found, runs)


def request_is_fed(request: ParityRequest) -> bool:
    """Whether one process is given what the loaders of the ranks gave."""
    return request.form is Form.SCRIPT


def _with_ranks(found: Parity, machine: Machine, folder: Path, doing: Callable[[str], None]) -> Runs:
    """Runs all ranks in float64, and where the program names another type itself, as it is."""
    request = found.request
    runs = Runs(request=request, machine=machine, folder=folder, dtype=request.dtype or "float64", doing=doing)
    try:
        runs.ranks()
    except NotComparableError as error:
        if request.dtype or not OTHER_TYPE.search(str(error)):
            raise
        found.notes.append("it computes in a type that it names itself, not in float64: compared as it is")
        runs = Runs(request=request, machine=machine, folder=folder / "as-it-is", dtype="", doing=doing)
        runs.ranks()
    return runs


def _measure(found: Parity, runs: Runs) -> None:
    precision = found.precision or precision_of(found.dtype, autocast=False)
    raw = runs.compare(precision.tolerance, precision.floor)
    found.measured = Measured(
        raw=raw,
        tolerance=precision.tolerance,
        accumulate=found.request.accumulate or 1,
        fed=request_is_fed(found.request),
    )


def _ask_why(found: Parity, runs: Runs) -> None:
    """Makes the runs that tell one cause from another, and asks each hypothesis."""
    problems = []
    runs.one("again")
    for rank in range(found.request.nproc):
        try:
            runs.alone(rank)
        except NotComparableError as error:
            problems.append(f"what rank {rank} computes by itself is not known: {error}")
    kinds: dict[str, Any] = dict(runs.facts().get("kinds", {}))
    if kinds.get("batch_norm") or kinds.get("sync_batch_norm"):
        runs.one("by-share", by_share=True)
    found.notes += problems
    _measure(found, runs)
    if found.measured is not None:
        found.explanations = explained(found.measured)
        if not found.causes:
            found.undecided = _random_numbers(found.measured)


def _random_numbers(measured: Measured) -> str:
    """Returns why a difference that nothing explains may be that of random numbers, "" where it cannot be."""
    facts = measured.facts
    if facts.get("compiled") and facts.get("kinds", {}).get("dropout"):
        return "dropout inside a compiled model draws numbers that cannot be handed out again; compare it uncompiled"
    if facts.get("draws_cut"):
        return "the model draws more random numbers, or others, than can be kept and handed out again"
    if measured.raw.get("draws_for_whole_batches"):
        return (
            "the model draws random numbers for a whole batch, not for each sample: ranks draw others than one process"
        )
    return ""


def explained(measured: Measured) -> tuple[Explanation, ...]:
    """Returns what the hypotheses prove, causes before effects."""
    said = [module.explain(measured) for module in discover(hypotheses).values()]
    return tuple(one for one in said if one is not None)

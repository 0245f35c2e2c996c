"""A trainer's own ladder of sizes: on which rung the failure begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from diagnostics.bisection.search.delta_debugging import Answer
from diagnostics.bisection.search.removals import answer
from diagnostics.bisection.trial import Failure, Oracle, OutOfTries, Trial

WORDS = {Answer.FAILS: "fails", Answer.PASSES: "passes"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """One size of a model that a trainer's CONFIG can build: `overrides` make it so."""

    name: str  # "depths [1, 1], without attention"
    overrides: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Climbed:
    """The ladder, from the smallest rung up: the first that breaks, and the last below it that does not."""

    first_failing: Rung | None
    trial: Trial | None = None  # of first_failing
    last_passing: Rung | None = None
    results: tuple[tuple[str, str], ...] = ()  # rung, "fails", "passes", "fails otherwise", "cannot run", "not tried"


def climb(oracle: Oracle, failing: Trial, rungs: Sequence[Rung]) -> Climbed:
    """Returns where on the ladder, smallest rung first, the failure begins.

    `failing` runs the whole model as its CONFIG has it. A rung that is refused or fails in another way counts as one
    that does not fail. Raises ValueError where `failing` has no failure.
    """
    if failing.failure is None:
        raise ValueError("a case that does not fail begins nowhere")
    trials: dict[int, Trial] = {}
    low, high = 0, len(rungs)
    try:
        while low < high:
            middle = (low + high) // 2
            trials[middle] = _try(oracle, failing, rungs[middle])
            if trials[middle].shows(failing.failure):
                high = middle
            else:
                low = middle + 1
    except OutOfTries:
        pass  # what is known is told
    return _climbed(rungs, trials, failing.failure)


def _try(oracle: Oracle, failing: Trial, rung: Rung) -> Trial:
    overrides = (*failing.case.edits.overrides, *rung.overrides)
    return oracle.ask(failing.case.edit(overrides=overrides), rung.name)


def _climbed(rungs: Sequence[Rung], trials: dict[int, Trial], failure: Failure) -> Climbed:
    first = min((number for number, trial in trials.items() if trial.shows(failure)), default=None)
    below = [number for number, trial in trials.items() if trial.passed and (first is None or number < first)]
    return Climbed(
        first_failing=rungs[first] if first is not None else None,
        trial=trials[first] if first is not None else None,
        last_passing=rungs[max(below)] if below else None,
        results=tuple((rung.name, _word(trials.get(number), failure)) for number, rung in enumerate(rungs)),
    )


def _word(trial: Trial | None, failure: Failure) -> str:
    if trial is None:
        return "not tried"
    if trial.refusal:
        return "cannot run"
    return WORDS.get(answer(trial, failure), "fails otherwise")

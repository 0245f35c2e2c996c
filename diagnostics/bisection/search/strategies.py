"""The same model on the same ranks, trained in each way there is."""

from __future__ import annotations

from contextlib import suppress

from diagnostics.bisection.case import WRAPPERS, Configuration
from diagnostics.bisection.found import StrategyRow
from diagnostics.bisection.search.delta_debugging import Answer
from diagnostics.bisection.search.module_found import shortly
from diagnostics.bisection.search.removals import answer
from diagnostics.bisection.trial import Failure, Oracle, OutOfTries, Trial

RANKS = 2  # at least


def compare_strategies(oracle: Oracle, failing: Trial) -> tuple[StrategyRow, ...]:
    """Returns one row for each wrapper, with the failing case's other settings and at least two ranks.

    Raises ValueError where `failing` has no failure.
    """
    if failing.failure is None:
        raise ValueError("there is no failure to compare by")
    with suppress(OutOfTries):  # each is asked for again: those that were tried are known
        oracle.ask_all([(case, _why(case)) for case in _cases(failing)])
    return tuple(_row(oracle, failing, failing.failure, wrapper) for wrapper in WRAPPERS)


def _cases(failing: Trial) -> list[Configuration]:
    cases = [job_from_record(failing.case, wrapper) for wrapper in WRAPPERS]
    return [case for case in cases if case != failing.case]


def _way(wrapper: str) -> str:
    return "no wrapper" if wrapper == "none" else wrapper


def _why(case: Configuration) -> str:
    return f"{_way(case.settings.wrapper)}, {case.settings.world} ranks"


def _row(oracle: Oracle, failing: Trial, failure: Failure, wrapper: str) -> StrategyRow:
    way = _way(wrapper)
    case = job_from_record(failing.case, wrapper)
    try:
        trial = failing if case == failing.case else oracle.ask(case, _why(case))
    except OutOfTries:
        return StrategyRow(way=way, result="not tried", note="no tries left")
    times = f"{trial.failed} of {trial.runs} times" if trial.runs > 1 else ""
    if trial.refusal:
        return StrategyRow(way=way, result="cannot run", note=trial.refusal)
    if answer(trial, failure) is Answer.FAILS:
        return StrategyRow(way=way, result="fails", note=times)
    if trial.failure is not None:
        return StrategyRow(way=way, result="fails otherwise", note=shortly(trial.failure))
    return StrategyRow(way=way, result="passes", note=times)


def job_from_record(case: Configuration, wrapper: str) -> Configuration:
    """Returns the case with this wrapper; its options are those of the wrapper it had."""
    settings = case.settings
    options = settings.options if wrapper == settings.wrapper else ()
    return case.set(wrapper=wrapper, options=options, world=max(RANKS, settings.world))

"""Finds which settings a failure needs: delta debugging over those of the failing case, then every other value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from diagnostics.bisection.case import Configuration, RunSettings
from diagnostics.bisection.found import AxisRow, SettingStatus
from diagnostics.bisection.search.axes import Choice, choices, others, smaller, with_only
from diagnostics.bisection.search.delta_debugging import Answer, minimal_subset
from diagnostics.bisection.search.module_found import shortly
from diagnostics.bisection.search.removals import answer
from diagnostics.bisection.trial import Failure, Oracle, OutOfTries, Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class AxesFound:
    """`minimal` fails in the same way with the fewest settings; `healthy` passes with the settings most like it."""

    minimal: Trial
    healthy: Trial | None
    rows: tuple[AxisRow, ...]
    evidence: tuple[str, ...] = ()


def search_axes(
    oracle: Oracle, failing: Trial, *, threads: int = 2, gpus: int = 0, with_others: bool = True
) -> AxesFound:
    """Returns a minimal set of settings; without any one of them the failure is gone.

    `with_others`: settings that the failing case does not have are tried, too, each by itself.
    `failing.failure` is the failure looked for; `threads` and `gpus` are what the machine has to try. Where the tries
    run out, the rest is told as not tried. Raises ValueError where `failing` has no failure.
    """
    if failing.failure is None:
        raise ValueError("a case that does not fail needs no settings")
    search = _Search(oracle, failing, failing.failure)
    rows = search.rows(threads=threads, gpus=gpus, with_others=with_others)
    return AxesFound(
        minimal=search.minimal,
        healthy=search.healthy(),
        rows=tuple(rows),
        evidence=tuple(_evidence(rows)),
    )


class _Search:
    def __init__(self, oracle: Oracle, failing: Trial, failure: Failure) -> None:
        self._oracle = oracle
        self._failing = failing
        self._failure = failure
        self._tried: dict[RunSettings, Trial] = {failing.case.settings: failing}
        self.minimal = failing

    def rows(self, *, threads: int, gpus: int, with_others: bool) -> list[AxisRow]:
        """Returns what is known of each setting; the failing case's come first."""
        at_first = choices(self._failing.case.settings)
        try:
            kept = minimal_subset(at_first, lambda subset: answer(self._with(subset), self._failure))
        except OutOfTries:
            return [_row(choice, choice.simplest, SettingStatus.NOT_TRIED, "no tries left") for choice in at_first]
        self.minimal = self._tried[with_only(kept)]
        rows = [
            self._needed(choice, kept) if choice in kept else _row(choice, choice.simplest, SettingStatus.NOT_NEEDED)
            for choice in at_first
        ]
        return [*rows, *self._others(at_first, threads=threads, gpus=gpus)] if with_others else rows

    def healthy(self) -> Trial | None:
        """Returns the trial that passes with the settings most like the minimal ones."""
        wanted = set(choices(self.minimal.case.settings))
        passed = [trial for trial in self._tried.values() if trial.passed]
        return min(
            passed, key=lambda trial: (not trial.tree, len(wanted ^ set(choices(trial.case.settings)))), default=None
        )

    def _with(self, kept: Sequence[Choice]) -> Trial:
        return self._try(with_only(tuple(kept)), _why(kept))

    def _try(self, settings: RunSettings, why: str) -> Trial:
        if settings not in self._tried:
            self._tried[settings] = self._oracle.ask(self._case(settings), why)
        return self._tried[settings]

    def _case(self, settings: RunSettings) -> Configuration:
        return replace(self._failing.case, settings=settings)

    def _needed(self, choice: Choice, kept: Sequence[Choice]) -> AxisRow:
        """Returns what leaving it out gave; a simpler value that fails, too, is taken instead."""
        without = self._with([one for one in kept if one != choice])
        said = answer(without, self._failure)
        standing = SettingStatus.NEEDED if said is Answer.PASSES else SettingStatus.NOT_TRIED
        return _row(self._smallest(choice), choice.simplest, standing, "" if said is Answer.PASSES else _told(without))

    def _smallest(self, choice: Choice) -> Choice:
        for less in smaller(choice):
            try:
                trial = self._try(less.on(self.minimal.case.settings), f"with {less.axis} {less.words}")
            except OutOfTries:
                return choice
            if answer(trial, self._failure) is Answer.FAILS:
                self.minimal = trial
                return less
        return choice

    def _others(self, at_first: Sequence[Choice], *, threads: int, gpus: int) -> Iterator[AxisRow]:
        """Yields each other value, tried by itself on the minimal case."""
        settings = self.minimal.case.settings
        known = {choice.axis for choice in at_first}
        wanted = [
            choice for choice in others(settings, self._failure, threads=threads, gpus=gpus) if choice.axis not in known
        ]
        self._side_by_side(wanted)
        for choice in wanted:
            now = "unset" if choice.kind == "env" else choice.simplest
            try:
                trial = self._try(choice.on(settings), f"with {choice.axis} {choice.words}")
            except OutOfTries:
                yield AxisRow(axis=choice.axis, value=now, other=choice.words, standing=SettingStatus.NOT_TRIED)
                continue
            said = answer(trial, self._failure)
            standing = {Answer.FAILS: SettingStatus.NO_EFFECT, Answer.PASSES: SettingStatus.HEALS}.get(
                said, SettingStatus.NOT_TRIED
            )
            note = _told(trial) if standing is SettingStatus.NOT_TRIED else ""
            yield AxisRow(axis=choice.axis, value=now, other=choice.words, standing=standing, note=note)

    def _side_by_side(self, wanted: Sequence[Choice]) -> None:
        """Has the oracle try them all; where the tries run out, what it knows by then is asked for one by one."""
        settings = self.minimal.case.settings
        cases = [(self._case(choice.on(settings)), f"with {choice.axis} {choice.words}") for choice in wanted]
        with suppress(OutOfTries):
            self._oracle.ask_all(cases)


def _row(choice: Choice, other: str, standing: SettingStatus, note: str = "") -> AxisRow:
    return AxisRow(axis=choice.axis, value=choice.words, other=other, standing=standing, note=note)


def _told(trial: Trial) -> str:
    if trial.failure is not None:
        return f"it fails in another way: {shortly(trial.failure)}"
    return f"cannot be run: {trial.refusal}" if trial.refusal else ""


def _why(kept: Sequence[Choice]) -> str:
    if not kept:
        return "with the simplest settings: one process, no wrapper"
    return f"with {', '.join(f'{choice.axis} {choice.words}' for choice in kept)}"


def _evidence(rows: Sequence[AxisRow]) -> Iterator[str]:
    for row in rows:
        if row.standing is SettingStatus.NEEDED:
            yield f"with {row.axis} {row.other} instead of {row.value} it passes"
        elif row.standing is SettingStatus.HEALS:
            yield f"with {row.axis} {row.other} it passes"

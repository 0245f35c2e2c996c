"""Shows each try as it runs and, if wanted, what it gave."""

from __future__ import annotations

from textwrap import shorten
from typing import Protocol

from diagnostics.bisection.trial import Failure, FailureKind, Trial

LONGEST = 40  # the running seconds stand behind it, on one line


class Shows(Protocol):
    """What is needed of a screen."""

    verbose: bool

    def say(self, line: str) -> None:
        """Prints one line of progress on stderr."""

    def waiting_for(self, what: str) -> None:
        """Shows on the live line what is waited for."""


class TriesShown:
    """The progress of a bisection on a screen."""

    def __init__(self, screen: Shows) -> None:
        self._screen = screen
        self._number = 0

    def trying(self, what: str, *, number: int, most: int | None, left_s: float | None) -> None:
        """Shows "try 12 of at most 40, 30 s left: without blocks.3"."""
        self._number = number
        of = f" of at most {most}" if most is not None else ""
        left = f", {_time(left_s)} left" if left_s is not None else ""
        self._screen.waiting_for(f"try {number}{of}{left}: {shorten(what, LONGEST, placeholder=' ...')};")

    def tried(self, what: str, trial: Trial) -> None:
        """Prints the result where every try is to be seen."""
        if self._screen.verbose:
            self._screen.say(f"try {self._number:<4} {result_of(trial):<32} {what} ({trial.seconds:.1f} s)")

    def doing(self, what: str) -> None:
        """Shows what is done beside the tries."""
        self._screen.waiting_for(f"{what};")

    def say(self, line: str) -> None:
        """Prints a line."""
        self._screen.say(line)


def result_of(trial: Trial) -> str:
    """Returns "passes", "fails: SIGSEGV in forward", "fails 2 of 5: ...", or "cannot run"."""
    if trial.refusal:
        return "cannot run"
    if trial.failure is None:
        return "passes"
    often = f" {trial.failed} of {trial.runs}" if trial.runs > 1 else ""
    return f"fails{often}: {failure_words(trial.failure)}"


def failure_words(failure: Failure) -> str:
    """Returns a failure in a few words: "SIGSEGV in forward", "loss is no number"."""
    match failure.kind:
        case FailureKind.NONFINITE:
            return f"{failure.detail or 'a value'} is no number"
        case FailureKind.DISAGREE:
            return f"ranks differ in {failure.detail or 'values'}"
    words = failure.detail or str(failure.kind.value)
    return f"{words} in {failure.phase}" if failure.phase else words


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min"

"""Where the status of a command that failed went. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class ScriptPlace(NamedTuple):
    """A line of a script; `file` is that of one which it sources, "" for its own."""

    line: int
    file: str = ""


class Fate(StrEnum):
    """What became of a failure."""

    DROPPED = "dropped"  # nobody looked at it, and that can be seen
    HANDLED = "handled"  # looked at, or answered
    PASSED = "passed on"  # as the status of the whole
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusFlow:
    """Where a status went, in words, and the places at which that is seen, best first.

    `at` are lines of a script, `places` those of a program with its file.
    """

    fate: Fate
    at: tuple[ScriptPlace, ...] = ()
    places: tuple[str, ...] = ()
    how: str = ""
    by_exception: bool = False
    recorded: bool = False  # what a test of it decided is kept beside what others gave: a row in a table of trials
    unasked: bool = False  # that exception stayed in a future that nobody asked: no handler got it
    at_end: bool = False  # the script ended with it: what stands behind it was not reached

    @property
    def lines(self) -> tuple[int, ...]:
        """The numbers of the lines alone."""
        return tuple(one.line for one in self.at)

"""What preflight shows while it runs: a live line on stderr, one line a finished check on stdout."""

from __future__ import annotations

import sys
from types import TracebackType

from diagnostics.core.console import say, wants_colour, width_of
from diagnostics.core.findings import Outcome
from diagnostics.core.progress_line import LiveLine
from diagnostics.core.wording import fitted
from diagnostics.preflight.plan import Probe
from diagnostics.report import terminal


class LiveScreen:
    """The observer of a run on a terminal, in a pipe, or (`quiet`) of one whose stdout belongs to JSON."""

    def __init__(self, *, quiet: bool = False, verbose: bool = False) -> None:
        self.quiet = quiet
        self.verbose = verbose
        self.colour = wants_colour()
        self.live = LiveLine()

    def __enter__(self) -> LiveScreen:
        self.live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.live.__exit__(kind, error, trace)

    def say(self, line: str) -> None:
        """Prints a sentence of progress or summary on stderr."""
        self.live.clear()
        say("\n".join(fitted(line, width_of(sys.stderr))), err=True)

    def waiting_for(self, what: str) -> None:
        """Shows on the live line what is waited for."""
        self.live.show(what)

    def started(self, probe: Probe) -> None:
        """Shows on the live line which check runs."""
        self.live.show(f"{probe.code}  {probe.title}")

    def finished(self, outcome: Outcome) -> None:
        """Prints the lines of one check."""
        self.live.clear()
        if not self.quiet:
            for line in terminal.outcome_lines(outcome, verbose=self.verbose, colour=self.colour):
                say(line, colour=self.colour)

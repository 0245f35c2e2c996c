"""Tells once, while the job runs, that it trains wrongly: a run of three days need not end to be known as lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.while_running import wrong_so_far
from diagnostics.record.batch_file import NAME_BEGIN

FIRST_S = 2.0  # after the first batch of the job; each further look waits twice as long
LONGEST_S = 600.0


class RunningNotes:
    """Of one job. A look is a piece of work beside the supervisor's loop."""

    def __init__(self, record: Path, agents: Path, say: Callable[[str], None]) -> None:
        self._record, self._agents, self._say = record, agents, say
        self._next_s, self._pause_s = 0.0, 0.0
        self._likely: set[str] = set()
        self._told: set[str] = set()

    def is_due(self, at_s: float) -> bool:
        """Whether it is time to look; not before a rank has read a batch."""
        if at_s < self._next_s:
            return False
        if not self._pause_s:
            self._next_s = at_s + 1.0
            if any(self._agents.glob(f"{NAME_BEGIN}*.bin")):
                self._pause_s = FIRST_S
                self._next_s = at_s + FIRST_S
            return False
        return True

    def begun(self, at_s: float) -> None:
        """A look has begun: the next one waits longer."""
        self._pause_s = min(LONGEST_S, 2 * self._pause_s)
        self._next_s = at_s + self._pause_s

    def look(self) -> None:
        """Reads the record and tells what is sure: what is confirmed, and what two looks have found likely."""
        likely = set()
        for match in wrong_so_far(self._record):
            code, sure = match.finding.code, match.finding.confidence is Confidence.CONFIRMED
            likely.add(code)
            if code not in self._told and (sure or code in self._likely):
                self._told.add(code)
                self._say(f"ups-doctor: the job goes on, but trains wrongly. {match.finding.title}.")
        self._likely = likely

"""Tells once, while the job runs, that it trains wrongly or slowly: a run of three days need not end first.

Where the user wants a job ended for that, what is confirmed ends it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.while_running import wrong_so_far

SAMPLED = ("batches-*.bin", "prints-*.jsonl")  # what agents leave of a training, beside their own file
FIRST_S = 2.0  # after the first sample of the job; each further look waits twice as long
LONGEST_S = 600.0


class RunningNotes:
    """Of one job. A look is a piece of work beside the supervisor's loop."""

    def __init__(
        self,
        record: Path,
        agents: Path,
        say: Callable[[str], None],
        *,
        abort_on: Collection[str] = (),
        look_closer: Callable[[Mapping[int, int]], None] = lambda processes: None,
    ) -> None:
        self._record, self._agents, self._say = record, agents, say
        self._abort_on, self._look_closer = frozenset(abort_on), look_closer
        self.wants_end = False  # a job that is to be ended as the user wishes
        self._next_s, self._pause_s = 0.0, 0.0
        self._likely: set[str] = set()
        self._told: set[str] = set()

    def is_due(self, at_s: float) -> bool:
        """Whether it is time to look; not before a rank has left samples."""
        if at_s < self._next_s:
            return False
        if not self._pause_s:
            self._next_s = at_s + 1.0
            if any(path for pattern in SAMPLED for path in self._agents.glob(pattern)):
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
        so_far = wrong_so_far(self._record)
        for match in so_far.matches:
            code, slow = match.finding.code, match.outcome is JobOutcome.SLOW
            sure = match.finding.confidence is Confidence.CONFIRMED
            likely.add(code)
            # What is slow now may be over soon: it must have been so at the look before.
            if code not in self._told and ((sure and not slow) or code in self._likely):
                self._told.add(code)
                ends = sure and match.outcome in self._abort_on
                how = "is ended, as --abort-on wants: it" if ends else "goes on, but"
                said = "is slow" if slow else "trains wrongly"
                self._say(f"ups-doctor: the job {how} {said}. {match.finding.title}.")
                self.wants_end = self.wants_end or ends
        self._likely = likely
        if so_far.suspects:
            self._look_closer(so_far.suspects)

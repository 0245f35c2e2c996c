"""Tells once, while the job runs, that it trains wrongly or slowly, or that a rank has failed and the others live on.

A run of three days need not end first, nor a launcher that gives its ranks half a minute to leave.

Looks at what its processes use meanwhile, and at where those stand that make it slow. Where the user wants a job ended
for what it is, what is confirmed ends it; one that is only measured ends when enough steps were made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.while_running import failure_so_far, wrong_so_far
from diagnostics.machine.processes.job_processes import Member
from diagnostics.record.supervisor_facts import ABORTED, MEASURED
from diagnostics.supervisor.capture.step_stacks import StepStacks
from diagnostics.supervisor.capture.usage import UsageLooks

SAMPLED = ("batches-*.bin", "prints-*.jsonl")  # what agents leave of a training, beside their own file
FIRST_S = 2.0  # after the first sample of the job; each further look waits twice as long
LONGEST_S = 600.0
MOST_FAILED = 16  # ranks of which something may be said
FAILED_S = 2.0  # after a rank has failed, most jobs have ended, and their report tells more


@dataclass(frozen=True, slots=True, kw_only=True)
class EndWishes:
    """When the user wants a job ended that runs well: outcomes that are sure, steps of its busiest rank, seconds."""

    outcomes: tuple[str, ...] = ()
    steps: float = float("inf")
    seconds: float = float("inf")


NO_WISHES = EndWishes()


class RunningNotes:
    """Of one job. A look is a piece of work beside the supervisor's loop."""

    def __init__(
        self,
        record: Path,
        agents: Path,
        say: Callable[[str], None],
        wishes: EndWishes = NO_WISHES,
        stop_asked: Callable[[], bool] = lambda: False,
    ) -> None:
        self._record, self._agents, self._say, self._wishes = record, agents, say, wishes
        self._usage, self._stacks = UsageLooks(record), StepStacks(record, stop_asked)
        self._next_s, self._pause_s = 0.0, 0.0
        self._likely: set[str] = set()
        self._told: set[str] = set()
        self._failed: list[Member] = []  # of which nothing was said
        self._told_failure = self._of_failure = False  # whether one was said; whether a look is for one
        self.wants_end = ""  # why the job is to be ended as the user wishes, in the words of job.json

    def saw(self, at_s: float, ranks_first: Callable[[], Mapping[int, int]], steps: int) -> None:
        """Looks at what the living processes use, where that is due; `steps` are those of the busiest rank."""
        if at_s >= self._wishes.seconds or steps >= self._wishes.steps:
            self.wants_end = self.wants_end or MEASURED
        if self._usage.is_due(at_s):
            self._usage.look(at_s, ranks_first())

    def failed(self, member: Member) -> None:
        """A process of the job has failed by itself: the first rank that did is told, where the job lives on."""
        if "RANK" in (member.variables or {}) and not self._told_failure and len(self._failed) < MOST_FAILED:
            self._failed.append(member)

    def close(self) -> None:
        """Writes what was looked at."""
        self._usage.write()

    def is_due(self, at_s: float) -> bool:
        """Whether it is time to look; not before a rank has left samples."""
        first = next(iter(self._failed), None)  # a look that still goes on may take it out
        self._of_failure = first is not None and at_s >= (first.ended_s or at_s) + FAILED_S
        if self._of_failure:
            return True
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
        if self._of_failure:
            return  # the next look at how the job trains comes when it would have
        self._pause_s = min(LONGEST_S, 2 * self._pause_s)
        self._next_s = at_s + self._pause_s

    def look(self) -> None:
        """Reads the record and tells what is sure: what is confirmed, and what two looks have found likely."""
        if self._of_failure:
            said = failure_so_far(self._record, self._failed.pop(0).pid)
            if said:
                self._told_failure = True
                self._failed.clear()
                self._say(f"ups-doctor: {said} (the job has not ended yet)")
            return
        likely = set()
        self._usage.write()
        so_far = wrong_so_far(self._record)
        for match in so_far.matches:
            code, slow = match.finding.code, match.outcome is JobOutcome.SLOW
            sure = match.finding.confidence is Confidence.CONFIRMED
            likely.add(code)
            # What is slow now may be over soon: it must have been so at the look before.
            if code not in self._told and ((sure and not slow) or code in self._likely):
                self._told.add(code)
                ends = sure and match.outcome in self._wishes.outcomes
                how = "is ended, as --abort-on wants: it" if ends else "goes on, but"
                said = "is slow" if slow else "trains wrongly"
                self._say(f"ups-doctor: the job {how} {said}. {match.finding.title}.")
                self.wants_end = ABORTED if ends else self.wants_end
        self._likely = likely
        self._stacks.look(so_far.suspects)

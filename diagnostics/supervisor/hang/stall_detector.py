"""When is a job that does nothing stuck? A rule over its own history; pure, fed with what was seen and when.

Two kinds of progress:
- sure: a process of the job recorded something (a module, a collective, a step, an event), a process came or went;
- busy: CPU time, bytes read or written, output. A rank that builds an index or writes a checkpoint is busy; so is one
  that spins in a lock, and a heartbeat thread prints for ever. It puts a stall off, not for ever.

A stall begins when neither was seen for `patience`, or when nothing sure was seen for a multiple of it. Patience
follows the job: ten times its median step, half as much again as the longest pause it ever came back from, never
under 10 s. Before the first step (imports, compilation, rendezvous, building an index) being busy is enough for
three times the stall timeout; a job that is not busy either is ended after the timeout that its user gave.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from statistics import median

from diagnostics.record.supervisor_facts import Stall

LEAST_PATIENCE_S = 10.0
EARLY_PATIENCE_S = 30.0  # while fewer than FEW_STEPS are known: the second step may take far longer than the third
START_PATIENCE_S = 15.0  # before the first step, of a job that has ranks
UNKNOWN_PATIENCE_S = 60.0  # of one that may be no training at all, or has no agent
STEPS_OF_PATIENCE = 10
NEAR_S = 3.0  # before a stall: long enough to make its report
PAUSE_FACTOR = 1.5
BUSY_FACTOR = 3.0
OUTPUT_FACTOR = 6.0
START_TIMEOUT_FACTOR = 3.0
FEW_STEPS = 3
_RECENT_STEPS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressSample:
    """One look at the job. `steps` is the largest count of optimizer steps of any process that is alive."""

    at_s: float
    sure: bool  # something was recorded, or a process came or went, since the look before
    busy: bool  # CPU, bytes or a process inside the kernel's disk wait
    output: bool
    steps: int = 0
    step_s: tuple[float, ...] = ()  # durations of the latest steps
    has_ranks: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class StallState:
    """What the supervisor should do. `report` and `withdraw` are true once each per stall."""

    stall: Stall | None  # the one that is on
    report: bool = False  # a stall has begun: capture, and write the provisional report
    withdraw: bool = False  # it is over
    end: bool = False  # nothing for the whole stall timeout: end the job
    near: Stall | None = None  # as it will be seen, shortly before it is one and when it is
    patience_s: float = LEAST_PATIENCE_S


class StallDetector:
    """Judges one job, look after look. `stalls` are all there were."""

    def __init__(self, timeout_s: float, began_s: float = 0.0) -> None:
        self._timeout_s = timeout_s
        self._sure_s = self._any_s = self._output_s = began_s
        self._longest_pause_s = 0.0
        self._steps = 0
        self._durations: deque[float] = deque(maxlen=_RECENT_STEPS)
        self._stepped_at: float | None = None
        self.stalls: list[Stall] = []

    def judge(self, seen: ProgressSample) -> StallState:
        """Returns what `seen` means after all that was seen before."""
        if seen.sure:
            self._learn_pause(seen.at_s)
        self._learn_steps(seen)
        patience = self._patience(seen)
        on = self.stalls[-1] if self.stalls and self.stalls[-1].over_s is None else None
        if seen.sure:
            self._sure_s = self._any_s = self._output_s = seen.at_s
            return self._over(on, seen.at_s, patience) if on else StallState(stall=None, patience_s=patience)
        if seen.busy:
            self._any_s = seen.at_s
        if seen.output:
            self._any_s = self._output_s = seen.at_s
        if on is None and self._is_stuck(seen, patience):
            on = Stall(began_s=self._sure_s, seen_s=seen.at_s, before_first_step=not seen.steps)
            self.stalls.append(on)
            end = self._is_lost(seen)
            return StallState(stall=on, report=True, end=end, near=self._expected(seen, patience), patience_s=patience)
        if on is None and seen.at_s - self._any_s >= patience - NEAR_S:
            return StallState(stall=None, near=self._expected(seen, patience), patience_s=patience)
        return StallState(stall=on, end=on is not None and self._is_lost(seen), patience_s=patience)

    def _expected(self, seen: ProgressSample, patience_s: float) -> Stall:
        return Stall(began_s=self._sure_s, seen_s=self._any_s + patience_s, before_first_step=not seen.steps)

    def _over(self, on: Stall, at_s: float, patience_s: float) -> StallState:
        self.stalls[-1] = replace(on, over_s=at_s)
        return StallState(stall=None, withdraw=True, patience_s=patience_s)

    def _learn_steps(self, seen: ProgressSample) -> None:
        if seen.step_s:
            self._durations = deque(seen.step_s, maxlen=_RECENT_STEPS)
        elif seen.steps > self._steps and self._stepped_at is not None:
            self._durations.append((seen.at_s - self._stepped_at) / (seen.steps - self._steps))
        if seen.steps != self._steps:
            self._steps, self._stepped_at = seen.steps, seen.at_s

    def _learn_pause(self, at_s: float) -> None:
        # A pause that ends with the first step, or before it, says nothing of those after it.
        if self._steps:
            self._longest_pause_s = max(self._longest_pause_s, at_s - self._sure_s)

    def _patience(self, seen: ProgressSample) -> float:
        if not seen.steps:
            return START_PATIENCE_S if seen.has_ranks else UNKNOWN_PATIENCE_S
        least = LEAST_PATIENCE_S if len(self._durations) >= FEW_STEPS else EARLY_PATIENCE_S
        step = median(self._durations) if self._durations else 0.0
        return max(least, STEPS_OF_PATIENCE * step, PAUSE_FACTOR * self._longest_pause_s)

    def _is_stuck(self, seen: ProgressSample, patience_s: float) -> bool:
        quiet, unsure = seen.at_s - self._any_s, seen.at_s - self._sure_s
        if not seen.steps:
            return quiet >= patience_s or unsure >= START_TIMEOUT_FACTOR * self._timeout_s
        talks = seen.at_s - self._output_s < patience_s
        return quiet >= patience_s or unsure >= (OUTPUT_FACTOR if talks else BUSY_FACTOR) * patience_s

    def _is_lost(self, seen: ProgressSample) -> bool:
        """Whether a stall has lasted its time; output and, before the first step, work put that off, not for ever."""
        alive_s = self._output_s if seen.steps else self._any_s
        longest_s = 2 * self._timeout_s * (1.0 if seen.steps else START_TIMEOUT_FACTOR)
        return seen.at_s - alive_s >= self._timeout_s or seen.at_s - self._sure_s >= longest_s

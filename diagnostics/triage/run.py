"""A run as all of its traces together tell it, and what a verdict over it is. Pure."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from math import inf
from typing import TypeVar

from diagnostics.core.findings import Confidence
from diagnostics.triage.trace import Claim, RunTrace, Scalar

Value = TypeVar("Value")
EARLY_S = 600.0  # so long a run may take to its first row: data, caches, compilation
MANY_GAPS = 10  # so many times the usual time between rows is no slow step any more
QUIET_S = 6 * 3600.0  # a run of whose process nothing is known has ended, where nothing was written for so long
MOST_NEAR = 64  # runs looked at on each side: more that began in the same seconds are a sweep
FEW_RUNS, COPIED_S = 3, 5.0
JUST_WRITTEN_S = 120.0


class RunFate(StrEnum):
    """The verdicts."""

    FINISHED = "finished"
    FINISHED_EMPTY = "finished with 0 rows"
    KILLED_AFTER_FINISHING = "killed after finishing"
    MEASURED = "ended when measured"
    CRASHED = "crashed"
    KILLED = "killed"
    HUNG = "hung"
    NEVER_LOGGED = "never logged"
    LIES = "lies"
    DUPLICATE = "duplicate of another rank"
    RUNNING = "running"
    TOO_EARLY = "too early to know"
    UNKNOWN = "unknown"


DIED = (RunFate.CRASHED, RunFate.KILLED, RunFate.HUNG, RunFate.NEVER_LOGGED, RunFate.LIES, RunFate.FINISHED_EMPTY)
LIVED = (RunFate.FINISHED, RunFate.KILLED_AFTER_FINISHING, RunFate.RUNNING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One verdict with what it rests on."""

    fate: RunFate
    evidence: tuple[str, ...]
    confidence: Confidence = Confidence.CONFIRMED
    same_as: str = ""  # of a duplicate: the run that it doubles


@dataclass(frozen=True)
class TrackedRun:
    """All that is known of one run; a tracker's word about rows comes before a log's."""

    traces: tuple[RunTrace, ...]

    @cached_property
    def trackers(self) -> tuple[RunTrace, ...]:
        """Where its metrics went."""
        return tuple(trace for trace in self.traces if trace.is_tracker)

    @cached_property
    def others(self) -> tuple[RunTrace, ...]:
        """Launchers, logs, the doctor."""
        return tuple(trace for trace in self.traces if not trace.is_tracker)

    @property
    def name(self) -> str:
        """The tracker's name of it."""
        return (self.trackers or self.traces)[0].run_id

    @cached_property
    def rows(self) -> int | None:
        """Rows of the tracker that has most; None where no tracker was found."""
        return max((trace.rows for trace in self.trackers if trace.rows is not None), default=None)

    @property
    def rows_are_all(self) -> bool:
        """Whether none can have been lost in a buffer."""
        return any(trace.rows_are_all and trace.rows == self.rows for trace in self.trackers)

    @cached_property
    def started_s(self) -> float | None:
        """When the first of its traces began, a tracker's before a log's."""
        return self._first(lambda trace: trace.started_s)

    @cached_property
    def last_sign_s(self) -> float | None:
        """The newest time in any of its traces."""
        return max((trace.last_sign_s for trace in self.traces if trace.last_sign_s), default=None)

    @property
    def last_row_s(self) -> float | None:
        """When the last row was written."""
        return max((trace.last_row_s for trace in self.trackers if trace.last_row_s), default=None)

    @property
    def runtime_s(self) -> float | None:
        """How long it ran, as far as it was recorded."""
        return self._first(lambda trace: trace.runtime_s)

    @property
    def last_step(self) -> int | None:
        """The last step of which something is known."""
        return max((trace.last_step for trace in self.traces if trace.last_step is not None), default=None)

    @cached_property
    def pids(self) -> frozenset[int]:
        """The processes that its trackers name."""
        return frozenset(trace.pid for trace in self.trackers if trace.pid is not None)

    @cached_property
    def host(self) -> str:
        """Where it ran."""
        return self._first(lambda trace: trace.host or None) or ""

    @cached_property
    def program(self) -> str:
        """What was started."""
        return self._first(lambda trace: trace.program or None) or ""

    @property
    def error(self) -> str:
        """The first exception that one of its traces tells; the doctor's own before others."""
        told = sorted(self.traces, key=lambda trace: (not trace.source.startswith("ups-doctor"), trace.source))
        return next((trace.error for trace in told if trace.error), "")

    @property
    def world_size(self) -> int | None:
        """How many ranks, by what launched it, or by its settings."""
        launched = self._first(lambda trace: trace.world_size)
        if launched is not None:
            return launched
        named = (value for name, value in self.settings.items() if name.rpartition(".")[2].lower() in RANKS)
        return next((value for value in named if isinstance(value, int) and not isinstance(value, bool)), None)

    @cached_property
    def settings(self) -> dict[str, Scalar]:
        """Configuration and environment."""
        found: dict[str, Scalar] = {}
        for trace in reversed(self.traces):
            found |= {**trace.environment, **trace.config}
        return found

    @cached_property
    def config(self) -> dict[str, Scalar]:
        """The configuration alone."""
        return {name: value for trace in reversed(self.traces) for name, value in trace.config.items()}

    def said(self, *claims: Claim) -> list[RunTrace]:
        """Returns the traces that claim one of these."""
        return [trace for trace in self.traces if trace.said in claims]

    @property
    def state(self) -> str:
        """What its sources say, where they do not agree all of it."""
        return "/".join(dict.fromkeys(trace.said.value for trace in self.traces if trace.said)) or "not said"

    def silent_s(self, until_s: float) -> float | None:
        """Returns for how long no row had come at a time; from its start where there never was one."""
        since = self.last_row_s or self.started_s
        return until_s - since if since is not None else None

    @property
    def patience_s(self) -> float:
        """After how long without a row it is no slow step any more."""
        gaps = [trace.row_gap_s for trace in self.trackers if trace.row_gap_s is not None]
        return max([EARLY_S, *(MANY_GAPS * gap for gap in gaps)])

    def _first(self, of: Callable[[RunTrace], Value | None]) -> Value | None:
        ordered = (*self.trackers, *self.others)
        return next((value for trace in ordered if (value := of(trace)) is not None), None)


RANKS = ("world_size", "num_gpus", "gpus", "nproc", "num_processes", "devices", "gpu_count", "nproc_per_node")


@dataclass(frozen=True, kw_only=True)
class Known:
    """What verdicts may ask beside the run itself; `runs` are in the order of their starts."""

    now_s: float
    is_alive: Callable[[TrackedRun], bool | None]  # None: nothing tells
    runs: Sequence[TrackedRun]

    def near(self, run: TrackedRun, within_s: float) -> Sequence[TrackedRun]:
        """Returns the runs that began within so many seconds of one, that one among them."""
        if run.started_s is None:
            return [run]
        here = bisect_left(self._starts, run.started_s)
        first = bisect_left(self._starts, run.started_s - within_s)
        last = bisect_right(self._starts, run.started_s + within_s)
        return self.runs[max(first, here - MOST_NEAR) : min(last, here + MOST_NEAR)]

    @cached_property
    def times_are_of_a_copy(self) -> bool:
        """Whether most runs, which began apart, were written to at one moment: by a copy or a checkout."""
        known = [(run.last_sign_s, run.started_s) for run in self.runs if run.last_sign_s and run.started_s]
        middle = sorted(sign for sign, _ in known)[len(known) // 2] if known else 0.0
        starts = [start for sign, start in known if abs(sign - middle) < COPIED_S]
        return len(starts) >= FEW_RUNS and 2 * len(starts) > len(known) and max(starts) - min(starts) > COPIED_S

    @cached_property
    def _starts(self) -> list[float]:
        return [run.started_s if run.started_s is not None else inf for run in self.runs]

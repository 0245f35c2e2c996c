"""report.json of a watched job, schema 1, and what the sections of report.md are made of.

No key is ever removed within a schema number; readers ignore unknown ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import ONLY_ON_PAGES, Confidence, Finding
from diagnostics.core.job_trace import JobTrace

NO_CLASS = "none"
UNKNOWN_CLASS = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class RankRow:
    """What is known of one rank."""

    rank: int
    host: str
    pid: int | None
    exit_code: int | None
    signal: str | None  # "SIGSEGV"
    role: str  # culprit | victim | ""
    ended: str  # the end in words: "died of SIGSEGV after 3.2 s", "ended by the launcher (SIGTERM)"
    last_step: int | None
    last_module: str
    last_collective: str
    stack: tuple[str, ...] = ()  # "model.py:31 forward", innermost first


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineEntry:
    """One event of one process; `rank` is None for launchers and helpers."""

    at_s: float
    rank: int | None
    pid: int
    what: str
    location: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceExcerpt:
    """Lines of a file around a location, numbered, the one meant marked by ">"."""

    location: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StackGroup:
    """Ranks that stood at the same place; `captured` says how: py-spy, faulthandler, traceback."""

    ranks: tuple[int, ...]
    captured: str
    frames: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingRow:
    """What one process of a job that hung did while nothing moved."""

    who: str  # "rank 1", "its data worker 4711", "its process 4712 (tool.py)": of the rank above
    pid: int
    place: str  # line of the job's own code, "" where it is in none
    does: str  # "waits for a lock on a file ..."
    looks: str  # "sleeps in flock, 0 % of a CPU, 5 looks over 10.0 s", "" where nobody looked


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What was and was not captured of one rank."""

    agent: bool
    faulthandler: bool
    stacks: bool
    flight_recorder: bool
    core: bool
    hooks: tuple[str, ...] = ()  # which ways of seeing caught exceptions were active
    missing: tuple[str, ...] = ()  # "no agent: python -I"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """The whole answer about one job. `locations[0]` is `location`, the line a good engineer would look at first."""

    doctor_version: str
    provisional: bool
    outcome: JobOutcome
    failure_class: str  # a FAILURE_CLASSES name, NO_CLASS or UNKNOWN_CLASS
    culprit_ranks: tuple[int, ...]
    victim_ranks: tuple[int, ...]
    location: str | None
    locations: tuple[str, ...]
    module: str | None
    root_cause: str
    fix: str
    confidence: Confidence
    findings: tuple[Finding, ...]  # the verdict first, then other roots, then cascades
    timeline: tuple[TimelineEntry, ...]
    ranks: tuple[RankRow, ...]
    coverage: Mapping[str, Coverage]  # by rank
    job_exit_code: int | None  # 128 + N where a signal ended it, as a shell would say
    exit_code: int
    exit_code_reason: str
    seconds: Mapping[str, float]  # job, detection, diagnosis
    command: str
    environment: Mapping[str, str]
    cwd: str = ""
    cut_short: str = ""  # who asked a job to end that went on: "interrupt", "doctor"; "" where it ended by itself
    started: str = ""
    fix_commands: tuple[str, ...] = ()
    sources: tuple[SourceExcerpt, ...] = ()
    stacks: tuple[StackGroup, ...] = ()
    standing: tuple[StandingRow, ...] = ()  # of a job that hung
    notes: tuple[str, ...] = ()  # said beside the verdict: a teardown abort after finished work, a stall that ended
    not_captured: tuple[str, ...] = ()
    repeat: str = ""  # the command that runs it again under the doctor
    trace: JobTrace | None = field(default=None, metadata={ONLY_ON_PAGES: True})  # the lanes of report.html

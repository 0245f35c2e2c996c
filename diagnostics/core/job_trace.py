"""What ranks did when, as spans, calls and moments: what lanes of a page and traces for other tools are made of.

All times are seconds since the job started. Every text is one line without secrets and control characters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSpan:
    """One step and how long each of its phases took altogether; in which order within the step is not recorded."""

    number: int
    began_s: float
    ended_s: float
    phases: tuple[tuple[str, float], ...]  # those that took any time


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSpan:
    """One call of torch.distributed; `number` is the same on all ranks of a collective, -1 where it is unknown."""

    op: str
    group: str
    number: int
    shape: str
    dtype: str
    root: int | None
    began_s: float
    ended_s: float | None  # None: never left
    meeting: str  # the same of all ranks that make it together; "" of a send, a receive, and what has no number
    asynchronous: bool = False
    failed: bool = False
    stack: tuple[str, ...] = ()  # "train.py:31 main", innermost first

    @property
    def matched(self) -> bool:
        """Whether all ranks of the group make it alike."""
        return bool(self.meeting)

    @property
    def shown(self) -> str:
        """Returns "all_reduce #17"."""
        return f"{self.op} #{self.number}" if self.number >= 0 else self.op


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """Something rare: an exception, a file that could not be read, the end."""

    at_s: float
    kind: str  # exception | load | event | end | missed
    text: str
    stack: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageSample:
    """What a process used until a moment."""

    at_s: float
    cpu_s: float | None
    memory_bytes: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """One rank. `module` is the one it entered last."""

    rank: int
    pid: int
    role: str  # culprit | victim | ""
    began_s: float
    ended_s: float | None
    end: str  # in words, "" while it runs
    steps: tuple[StepSpan, ...] = ()
    calls: tuple[CallSpan, ...] = ()
    moments: tuple[Moment, ...] = ()
    usage: tuple[UsageSample, ...] = ()
    step_count: int = 0
    module: str = ""
    stack: tuple[str, ...] = ()  # where it stood when it was looked at last, innermost first
    groups: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # its process groups and their ranks
    same: tuple[int, ...] = ()  # ranks that behaved alike and that this one stands for, itself among them


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTrace:
    """The lanes of one job, and until when they go. `ranks` is how many there were."""

    command: str
    started_ns: int
    until_s: float
    lanes: tuple[Lane, ...]
    ranks: int

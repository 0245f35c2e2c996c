"""What `ups-doctor perf` answers about one run."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from diagnostics.dynamic.steps.view import StepView


class Bound(StrEnum):
    """What limits the steps."""

    COMPUTE = "compute"
    DATA = "data"
    NETWORK = "communication"
    LATE_RANK = "one rank that the others wait for"
    HOST = "host work beside the model"
    CPUS = "CPUs that the job, or others, take from it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Something to change. `cost` is a measured share of a step, `gain` the estimate of what the change would give."""

    what: str  # what is slow, with the values seen
    do: str
    cost: float
    gain: float
    place: str = ""  # "train.py:31"


@dataclass(frozen=True, slots=True, kw_only=True)
class Throughput:
    """How fast the steps are. `rows_s` is None where nothing tells how many samples a step has."""

    ranks: int
    step_s: float
    rows_s: float | None  # samples a second, of all ranks together


@dataclass(frozen=True, slots=True, kw_only=True)
class PerfAnswer:
    """All of it. `efficiency` is throughput against that of one rank times the ranks."""

    command: str
    steps: int
    first_step: int
    last_step: int
    on_device: bool
    view: StepView
    throughput: Throughput
    baseline: Throughput | None
    efficiency: float | None
    at_work: float  # the share of their time in which the ranks wait neither for each other nor for data
    exposed: float  # share of the step, of the rank that waits least: communication itself
    waiting: float  # the rest of what ranks wait for each other, on average
    bound: Bound
    changes: tuple[Change, ...]
    notes: tuple[str, ...] = ()

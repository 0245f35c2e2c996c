"""Marks of what schedules of the learning rate were given, and of what they were not given back. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from diagnostics.core.frame import Frame


@dataclass(frozen=True, slots=True, kw_only=True)
class Plateau:
    """A ReduceLROnPlateau that lowered the rate, and all that it was given up to then."""

    optimizer: int
    scheduler: int  # which one
    step: int
    mode: str
    first: float  # its rate at the first number
    rate: float  # now
    numbers: tuple[float | None, ...]
    losses: tuple[float | None, ...]  # mean of the passes before each
    names: tuple[str, ...]  # of what holds the latest number
    made: tuple[Frame, ...]
    path: tuple[Frame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleAnew:
    """A scheduler that began at its start for an optimizer that a state was loaded into."""

    optimizer: int
    step: int
    since: int  # the first step after the load
    loaded: float  # rate of the first group in the state
    initial: float  # what its schedule had begun with
    first: float  # rate of the first step
    rate: float  # once the scheduler had moved
    began: int  # what the scheduler had counted at the first step
    count: int  # and now
    key: str  # under which a scheduler's state is in the checkpoint, "" without
    kept: int  # what it had counted
    alike: bool  # its settings are those of the scheduler
    variable: str  # that counts on from where the state was saved, "" without
    counted: int  # its value at that step
    scheduler: str
    horizon: int | None  # after how many of its steps it ends, as far as it says so
    made: tuple[Frame, ...]
    loaded_at: tuple[Frame, ...]
    read_at: tuple[Frame, ...]
    path: tuple[Frame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleUnused:
    """A scheduler that was not stepped up to a step, and the rate that it had left."""

    optimizer: int
    step: int
    rate: float
    scheduler: str
    horizon: int | None
    made: tuple[Frame, ...]
    path: tuple[Frame, ...]  # of the optimizer's step


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredEmpty:
    """An optimizer that was given a state without an entry, while its schedule was given back as it was."""

    optimizer: int
    optimizer_class: str
    scheduler: str
    count: int  # steps that the schedule had made
    step: int
    path: tuple[Frame, ...]  # where the state was loaded


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleSlow:
    """A scheduler that was stepped once for several steps of its optimizer, and ends behind the last of these."""

    optimizer: int
    step: int
    rate: float
    scheduler: str
    stepped: int
    horizon: int
    made: tuple[Frame, ...]
    path: tuple[Frame, ...]  # of the optimizer's step


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulePaced:
    """A scheduler that is stepped with each step of its optimizer, and after how many of these it ends."""

    optimizer: int
    step: int
    rate: float
    first: int  # milestone, where all of them are behind; 0 else
    scheduler: str
    stepped: int
    horizon: int  # the last milestone, else the number of steps that it is made for
    made: tuple[Frame, ...]
    path: tuple[Frame, ...]  # of the optimizer's step


ScheduleMark = Plateau | ScheduleAnew | ScheduleUnused | RestoredEmpty | ScheduleSlow | SchedulePaced

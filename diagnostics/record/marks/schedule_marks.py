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


ScheduleMark = Plateau

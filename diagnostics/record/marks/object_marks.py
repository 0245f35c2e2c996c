"""Marks of what objects of the program hold or do: schedules that are heard by nobody. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from diagnostics.core.frame import Frame


@dataclass(frozen=True, slots=True, kw_only=True)
class RatesLost:
    """Rates that were changed where no step reads them, while those of the steps stayed."""

    optimizer: int
    step: int
    since: int  # the step from which on
    changes: int
    rate: float  # that the steps use
    written: float
    scheduler: str  # of another optimizer; "" where groups of before a loaded state are written to
    made: tuple[Frame, ...]  # the scheduler, or where the state was loaded
    stepped: tuple[Frame, ...]


ObjectMark = RatesLost

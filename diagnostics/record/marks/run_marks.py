"""Marks of what a run does over and over: rates that swing, numbers drawn again, states that are gone on from."""

from __future__ import annotations

from dataclasses import dataclass

from diagnostics.core.frame import Frame


@dataclass(frozen=True, slots=True, kw_only=True)
class RateSwings:
    """A rate that turned upward several times, and a scheduler of its optimizer that says where it ends."""

    optimizer: int
    step: int  # at the latest turn
    turns: int
    period: int  # steps since the turn before
    fell: int  # steps for which it came down before the turn
    low: float
    high: float
    scheduler: str
    stepped: int | None
    horizon: int | None
    made: tuple[Frame, ...]
    path: tuple[Frame, ...]  # of the optimizer's step


@dataclass(frozen=True, slots=True, kw_only=True)
class DropoutInEval:
    """Calls of dropout in one line that drop without gradients, in a method of a module in eval mode."""

    function: str
    module: str  # its class
    run: int
    step: int  # made before
    path: tuple[Frame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnAgain:
    """Rounds of steps after a seeding that began in one and the same state of torch's own generators."""

    optimizer: int
    step: int
    run: int  # rounds in a row
    seed: int | None
    path: tuple[Frame, ...]  # of the seeding


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptyPass:
    """A backward pass of a rank that began at a tensor without a graph: nothing was computed, nothing reduced."""

    number: int  # among the rank's passes, from 1
    path: tuple[Frame, ...]


RunMark = RateSwings | DropoutInEval | DrawnAgain | EmptyPass

"""Failures on purpose: UPS_DRILL="memory rank=1 step=3 phase=backward stage=operator" shows that all ranks agree.

`memory`, `nan`, `batch` at phases `loader`, `forward`, `backward`, `optimizer`. Steps count from 0; `times` is how
often it happens there (1). Nothing is done where the variable is not set.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn, Protocol

import torch

from ups.errors import ConfigError, DataError

VARIABLE = "UPS_DRILL"
KINDS = ("memory", "nan", "batch")
PHASES = ("loader", "forward", "backward", "optimizer")


class Strategy(Protocol):
    """What can fail in the middle of a pass."""

    def fail_in_forward(self, fail: Callable[[], None]) -> bool:
        """Has the next forward pass call `fail` half way; returns False where that is not possible."""
        ...

    def fail_in_backward(self, fail: Callable[[], None]) -> None:
        """Has the next backward pass call `fail` when a part of the gradients is there."""
        ...


@dataclass(slots=True)
class Drill:
    """One failure at one rank, step and phase of a stage."""

    kind: str
    rank: int
    step_number: int
    phase: str
    stage: str
    times: int = 1
    now: int = -1  # the step that is made
    _at_the_end: bool = False  # of a forward pass it fails

    def load(self, step: int) -> None:
        """A batch is about to be read for this step."""
        self.now = step
        if self._is_due("loader"):
            self._fail()

    def before_forward(self, strategy: Strategy) -> None:
        """A forward pass begins: it fails half way, or at its end."""
        due = self.kind != "nan" and self._is_due("forward")
        self._at_the_end = due and not strategy.fail_in_forward(self._fail)

    def before_backward(self, loss: torch.Tensor, strategy: Strategy) -> torch.Tensor:
        """Returns a loss that is NaN, or whose backward pass fails half way, where that is due."""
        if self._at_the_end:
            self._fail()
        if self.kind == "nan" and self._is_due("forward"):
            return loss * float("nan")
        if self._is_due("backward"):
            strategy.fail_in_backward(self._fail)
        return loss

    def step(self) -> None:
        """The optimizer is about to make its step."""
        if self._is_due("optimizer"):
            self._fail()

    def _is_due(self, phase: str) -> bool:
        if self.now != self.step_number or self.phase != phase or self.times < 1:
            return False
        self.times -= 1
        return True

    def _fail(self) -> NoReturn:
        if self.kind == "batch":
            raise DataError(f"{VARIABLE}: a batch that cannot be read")
        raise torch.OutOfMemoryError(f"{VARIABLE}: {self.phase}")


def drill_of(rank: int, stage: str) -> Drill | None:
    """Returns the failure that this rank is to have in this stage. Raises ConfigError for what cannot be read."""
    text = os.environ.get(VARIABLE, "")
    if not text:
        return None
    kind, *words = text.split()
    known = {"rank": "0", "step": "0", "phase": "forward", "stage": stage, "times": "1"}
    known.update({name: value for name, _, value in (word.partition("=") for word in words)})
    numbers = [known[name].isdigit() for name in ("rank", "step", "times")]
    if kind not in KINDS or known["phase"] not in PHASES or not all(numbers):
        raise ConfigError(
            f"{VARIABLE}={text!r}: one of {', '.join(KINDS)} is needed, then rank=N step=N phase=P with P one of "
            f"{', '.join(PHASES)}",
            hint=f"{VARIABLE}='memory rank=1 step=3 phase=backward'",
        )
    if int(known["rank"]) != rank or known["stage"] != stage:
        return None
    return Drill(kind, rank, int(known["step"]), known["phase"], stage, int(known["times"]))

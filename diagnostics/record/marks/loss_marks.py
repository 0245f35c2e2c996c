"""Marks of what a loss is given, by the graph behind it, and of limits that come too late. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from diagnostics.core.frame import Frame


@dataclass(frozen=True, slots=True, kw_only=True)
class LossSquashed:
    """A loss that was given probabilities where it takes logits, or the other way round, by its graph."""

    run: int  # looks at the graph so far that saw it
    given: str  # "SoftmaxBackward0"
    taken: str  # "LogSoftmaxBackward0"
    loss: float | None
    path: tuple[Frame, ...]  # of backward()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClippedLate:
    """Gradients that were clipped after the step, and by no step used before the next backward pass."""

    run: int  # steps in a row
    limit: float
    path: tuple[Frame, ...]  # where they were clipped
    stepped: tuple[Frame, ...]

"""Makes a failing case smaller once its module is known: containers, batch, and a trainer's own ladder of sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from diagnostics.bisection.trial import ModuleNode, Oracle, Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """One size of a model that a trainer's CONFIG can build: `overrides` make it so."""

    name: str  # "depths [1, 1], without attention"
    overrides: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrunk:
    """The smallest case that still fails in the same way, and what was taken away."""

    minimal: Trial
    steps: tuple[str, ...] = ()  # "layers: 1 of 12 kept"
    tries: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Climbed:
    """The ladder, from the smallest rung up: the first that breaks, and the last below it that does not."""

    first_failing: Rung | None
    trial: Trial | None = None  # of first_failing
    last_passing: Rung | None = None
    results: tuple[tuple[str, str], ...] = ()  # rung, "fails", "passes", "fails otherwise", "cannot run", "not tried"


def shrink(oracle: Oracle, failing: Trial, tree: Sequence[ModuleNode], *, tries: int = 24) -> Shrunk:
    """Returns a case with fewer layers and a smaller batch that fails like `failing`, within so many tries."""
    raise NotImplementedError


def climb(oracle: Oracle, failing: Trial, rungs: Sequence[Rung]) -> Climbed:
    """Returns where on the ladder, smallest rung first, the failure begins."""
    raise NotImplementedError

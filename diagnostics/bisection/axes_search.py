"""Finds which settings a failure needs: delta debugging over those of the failing case, then every other value."""

from __future__ import annotations

from dataclasses import dataclass

from diagnostics.bisection.found import AxisRow
from diagnostics.bisection.trial import Oracle, Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class AxesFound:
    """`minimal` fails in the same way with the fewest settings; `healthy` passes with the settings most like it."""

    minimal: Trial
    healthy: Trial | None
    rows: tuple[AxisRow, ...]
    evidence: tuple[str, ...] = ()


def search_axes(oracle: Oracle, failing: Trial, *, threads: int = 2, gpus: int = 0) -> AxesFound:
    """Returns a minimal set of settings; without any one of them the failure is gone.

    `failing.failure` is the failure looked for; `threads` and `gpus` are what the machine has to try.
    """
    raise NotImplementedError

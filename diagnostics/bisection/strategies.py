"""The same model on the same ranks, trained in each way there is."""

from __future__ import annotations

from diagnostics.bisection.found import StrategyRow
from diagnostics.bisection.trial import Oracle, Trial


def compare_strategies(oracle: Oracle, failing: Trial) -> tuple[StrategyRow, ...]:
    """Returns one row for each wrapper, with the failing case's other settings and at least two ranks."""
    raise NotImplementedError

"""States of optimizers whose parts lie on all ranks, asked for before they were brought together. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Made, options

_ZERO = frozenset(
    ["torch.distributed.optim.ZeroRedundancyOptimizer",
     "torch.distributed.optim.zero_redundancy_optimizer.ZeroRedundancyOptimizer"]
)  # fmt: skip
_GATHERS = "consolidate_state_dict"


def unconsolidated_states(execution: Execution) -> Iterator[tuple[Event, Made]]:
    """Yields (state_dict(), ZeroRedundancyOptimizer) where nothing consolidates the state in the whole program."""
    gathered = [one for event in execution.events if event.name.endswith(_GATHERS) for one in options(event.owner)]
    gathered += [one for event in execution.events if event.name.endswith(_GATHERS) for one in event.args]
    if any(not isinstance(one, Made) or one.name not in _ZERO for one in gathered):
        return  # it is not known whose
    for event in execution.named(".state_dict"):
        for one in options(event.owner):
            if isinstance(one, Made) and one.name in _ZERO and not any(one is each for each in gathered):
                yield event, one

"""Rates that follow a number of the rank's own; sums over all ranks that are divided by its own count. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.static.executed.own_data import OwnData
from diagnostics.static.executed.training import is_distributed, operation
from diagnostics.static.executed.values_met import values_met
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Made, Value, sources


def rates_by_own_loss(execution: Execution) -> Iterator[tuple[Event, Made]]:
    """Yields (step of a ReduceLROnPlateau, the rank's samples that its number was computed from)."""
    steps = [one for one in execution.named(".step") if isinstance(one.owner, Made)
             and one.owner.name.endswith("ReduceLROnPlateau")]  # fmt: skip
    if not steps or not is_distributed(execution):
        return
    own = OwnData(execution)
    for one in steps:
        samples = own.of(one.argument(0, "metrics"))
        if samples is not None:
            yield one, samples


def sums_over_own_counts(execution: Execution) -> Iterator[tuple[Made, Event, Made]]:
    """Yields (division, the sum over ranks, the rank's samples that are counted below)."""
    summed = {id(one.args[0]): one for one in execution.events if operation(one) in operations.SUMS_FOR_ALL and one.args
              and not averages(one)}  # fmt: skip
    if not summed:
        return
    own = OwnData(execution)
    told: set[int] = set()
    for value in values_met(execution):
        if value.name != "/" or len(value.args) != 2 or id(value.node) in told:
            continue
        above = next((summed[id(one)] for one in sources(value.args[0]) if id(one) in summed), None)
        if above is not None and _is_averaged(value.args[0], above.args[0]):
            continue  # `loss /= world_size` was there before
        counted = own.of(value.args[1], sizes=True) if above is not None else None
        if above is not None and counted is not None and not own.is_agreed(value.args[1]):
            told.add(id(value.node))
            yield value, above, counted


def _is_averaged(value: Value, summed: Value) -> bool:
    """Whether what was summed over the ranks has been divided since, on its way into a value."""
    return any(
        isinstance(one, Made) and one.name == "/" and any(each is summed for each in sources(one.args[0]))
        for one in sources(value)
    )


def averages(event: Event) -> bool:
    """Whether a reduction is told to do something else than to sum."""
    given = event.argument(1, "op")
    return given is not None and getattr(given, "name", "").rpartition(".")[2] not in ("SUM", "")

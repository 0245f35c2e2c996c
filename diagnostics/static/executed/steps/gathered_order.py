"""What all ranks have computed of samples that a DistributedSampler dealt out in turn, taken for the data set's order.

`torch.cat()` of what all_gather gave stands rank after rank: 0, 2, 4, ..., 1, 3, 5, ... for two of them. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.static.executed.steps.sample_pairs import IN_A_ROW, ONE_NUMBER, is_of, pairs
from diagnostics.static.executed.values_met import values_met
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.library import LOADER
from diagnostics.static.execution.values import Items, Made, Value, made_of, sources

_SAMPLER = "torch.utils.data.distributed.DistributedSampler"
GATHERS = tuple(  # into a list that each rank has
    name for name in (*operations.PARTS, *operations.PICKLED) if name in operations.SLOTS or name.startswith("all_")
)
_MOST = 400


def taken_for_data_order(execution: Execution) -> Iterator[tuple[Made, Made, Event]]:
    """Yields (what is gathered in a row, what compares it with the data set, the gather) where the orders differ."""
    for gather in execution.named(*(f"torch.distributed.{name}" for name in GATHERS)):
        parts, given = gather.argument(0, "tensor_list"), gather.argument(1, "tensor")
        loader = _dealt(given) if given is not None else None
        if loader is None or not isinstance(parts, Items):
            continue
        data = loader.args[0]
        for value in values_met(execution):
            for row, other in pairs(value):
                found = _in_a_row(row, parts)
                if found is not None and is_of(other, data) and not _holds(other, parts):
                    yield found, value, gather
                    break


def _dealt(value: Value) -> Made | None:
    """Returns the loader with a DistributedSampler of its own data set that a value was computed from."""
    for one in sources(value):
        if not isinstance(one, Made) or one.name != LOADER or not one.args:
            continue
        sampler = one.keywords.get("sampler")
        if isinstance(sampler, Made) and sampler.name == _SAMPLER and sampler.args[:1] == one.args[:1]:
            return one
    return None


def _in_a_row(value: Value, parts: Items) -> Made | None:
    """Returns the call that puts the parts of all ranks one behind the other, whose entries a value has one by one."""
    waiting: list[Value | None] = [value]
    seen: set[int] = set()
    while waiting and len(seen) < _MOST:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, Made) and one.name in IN_A_ROW and any(each is parts for each in one.args[:1]):
            return one
        if not (isinstance(one, Made) and one.name in ONE_NUMBER and not one.args and not one.keywords):
            waiting += made_of(one)
    return None


def _holds(value: Value, parts: Items) -> bool:
    return any(one is parts for one in sources(value))

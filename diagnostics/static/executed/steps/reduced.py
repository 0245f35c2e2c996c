"""What only one rank is given by a reduction, and every rank goes by. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.static.executed.one_rank import ALL_RANKS, ranks_at
from diagnostics.static.executed.training import is_distributed, operation
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Const, Made, Value, made_of

_SCHEDULES = "torch.optim.lr_scheduler."
_LEAPS = frozenset(["break", "return", "continue"])
_MOST = 400
_SIZES = frozenset(["len", ".shape", ".size", ".numel", ".ndim", ".dtype", ".device", ".dim", "is", "is not"])


def goes_by_one_ranks_sum(execution: Execution) -> Iterator[tuple[Event, Event]]:
    """Yields (reduction to one rank, what every rank does by its result)."""
    if not is_distributed(execution):
        return
    events = execution.events
    for at, one in enumerate(events):
        if operation(one) != "reduce" or _is_of_a_group(one) or one.is_handled or ranks_at(one) != ALL_RANKS:
            continue
        tensor = one.argument(0, "tensor")
        if not isinstance(tensor, Made) or any(_hands_out(each, tensor) for each in events[at + 1 :]):
            continue
        used = next((each for each in events[at + 1 :] if _is_steered(each, tensor)), None)
        if used is not None:
            yield one, used


def _is_of_a_group(event: Event) -> bool:
    """Whether it is in a group that may be of this rank alone, or is waited for elsewhere."""
    return any(event.argument(at, name) is not None for at, name in ((3, "group"), (4, "async_op")))


def _hands_out(event: Event, tensor: Value) -> bool:
    """Whether an event gives what was reduced to every rank."""
    name = operation(event)
    if name not in operations.SHARED and name not in operations.PICKLED:
        return False
    return any(_is_made_of(given, tensor) for given in (*event.args, *event.keywords.values()))


def _is_steered(event: Event, tensor: Value) -> bool:
    """Whether a schedule is given the number on every rank, or every rank leaves a loop by it."""
    if event.name == ".step" and isinstance(event.owner, Made) and event.owner.name.startswith(_SCHEDULES):
        given = (*event.args, *event.keywords.values())
        return any(_is_made_of(one, tensor) for one in given) and ranks_at(event) == ALL_RANKS
    if event.name not in _LEAPS or not event.guards or not event.loops:
        return False
    return _is_made_of(event.guards[-1].test, tensor) and ranks_at(event) == ALL_RANKS


def _is_made_of(value: Value | None, tensor: Value) -> bool:
    """Whether a value is computed from what a tensor holds, and not only from its size."""
    waiting, seen = [value], set[int]()
    while waiting and len(seen) < _MOST:
        one = waiting.pop()
        if one is tensor:
            return True
        if one is None or id(one) in seen or isinstance(one, Const):
            continue
        seen.add(id(one))
        if not (isinstance(one, Made) and one.name in _SIZES):
            waiting += made_of(one)
    return False

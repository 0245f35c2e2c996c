"""Handles of asynchronous operations of which a loop keeps the last only. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.static.executed.training import operation
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Const, Items, Mapped, Value, options, sources

_INIT = "torch.distributed.init_process_group"


def overwritten_handles(execution: Execution) -> Iterator[tuple[Event, Event]]:
    """Yields (operation in a loop, wait behind the loop): the handles of all rounds but the last are dropped.

    NCCL runs the operations of a group one after the other, so that the last one's end is the end of all.
    """
    if any("nccl" in str(getattr(one.argument(0, "backend"), "value", "nccl")) for one in execution.named(_INIT)):
        return
    waits = list(execution.named(".wait"))
    for one in execution.events:
        if not one.loops or not _returns_at_once(one) or _is_kept(one, execution):
            continue
        mine = [each for each in waits if any(own is one.value for own in _handles(each.owner))]
        if mine and not any(loop is one.loops[-1] for each in mine for loop in each.loops):
            yield one, mine[0]


def _handles(value: Value | None) -> list[Value]:
    return [inner for one in options(value) for inner in (one, *options(one))]


def _returns_at_once(event: Event) -> bool:
    given = event.keywords.get("async_op")
    return operation(event) in operations.ALWAYS_ASYNC or (isinstance(given, Const) and given.value is True)


def _is_kept(event: Event, execution: Execution) -> bool:
    """Whether a loop goes over what holds the handle, or something is given what does: each may be waited for."""
    overs = {id(loop.over): loop.over for each in execution.events for loop in each.loops}
    given = [value for each in execution.events for value in each.args if isinstance(value, (Items, Mapped))]
    return any(one is event.value for value in (*overs.values(), *given) for one in sources(value))

"""Everything that was computed on the way to an event. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.static.execution.events import Execution
from diagnostics.static.execution.values import Made, Value, made_of


def values_met(execution: Execution) -> Iterator[Made]:
    """Yields everything that was computed on the way to an event, each once."""
    seen: set[int] = set()
    waiting: list[Value | None] = [
        given for event in execution.events for given in (event.owner, *event.args, *event.keywords.values())
    ]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        waiting += made_of(one)
        if isinstance(one, Made):
            yield one

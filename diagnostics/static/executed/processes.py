"""Processes that are waited for before what they put into a queue is taken out. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Made, Procedure, Value, options, sources

_QUEUES = ("Queue", "JoinableQueue")


def joined_before_drained(execution: Execution) -> Iterator[tuple[Event, Event, Made]]:
    """Yields (join, get behind it, queue) of a process that puts into the queue, of which nothing was taken before."""
    events = execution.events
    for at, joined in enumerate(events):
        if joined.name != ".join" or joined.args or "timeout" in joined.keywords:
            continue
        for process in _processes(joined.owner):
            for queue in _queues(process):
                taken = [
                    place
                    for place, one in enumerate(events)
                    if one.name in (".get", ".get_nowait") and _is(one.owner, queue)
                ]
                if taken and taken[0] > at:
                    yield joined, events[taken[0]], queue


def _processes(value: Value | None) -> Iterator[Made]:
    for one in options(value):
        if isinstance(one, Made) and one.name.rpartition(".")[2] == "Process":
            yield one


def _queues(process: Made) -> Iterator[Made]:
    target = process.keywords.get("target")
    if not isinstance(target, Procedure) or not any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "put"
        for node in target.function.nodes_of(ast.Call)
    ):
        return
    for one in sources(process.keywords.get("args")):
        if isinstance(one, Made) and one.name.rpartition(".")[2] in _QUEUES:
            yield one


def _is(value: Value | None, queue: Made) -> bool:
    return any(one is queue for one in options(value))

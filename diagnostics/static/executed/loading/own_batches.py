"""Batches that are filled by what is in a rank's own samples, so that ranks have different numbers of them. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.static.executed.saved_files import asks_rank
from diagnostics.static.executed.training import is_distributed, loader_of, meets
from diagnostics.static.execution.events import Event, Execution, OpenLoop
from diagnostics.static.execution.values import Instance, Made
from diagnostics.static.program.ast_walk import walk

_ROUNDS = 4
_JOINS = (".join", "Join")
_LEAVES = ("break", "return")


def loops_of_own_length(execution: Execution) -> Iterator[tuple[Event, Event, Event]]:
    """Yields (where a batch is taken, what ranks meet in each round, loop over the rank's samples that makes batches).

    The loop ends with the rank's own batches, and nothing else ends it.
    """
    if not is_distributed(execution):
        return
    made = [one for one in execution.events if _makes_own_number(one)]
    told: set[int] = set()
    for taken in execution.named("iterate", "next") if made else ():
        loader = loader_of(taken.owner)
        data = loader.argument(0, "dataset") if loader is not None else None
        kind = data.kind.kind if isinstance(data, Instance) else None
        source = next((one for one in made if kind is not None and one.function.owner is kind), None)
        if source is None or id(taken.node) in told or (taken.name == "next" and not _ends_with_data(taken, execution)):
            continue
        inside = [one for one in execution.events if _is_round(one, taken)]
        met = next((one for one in inside if meets(one) and not one.is_handled), None)
        ends = any(one.name in _LEAVES and not one.is_handled and _is_of(one, taken) for one in inside)
        if met is not None and not ends and not _is_joined(met):
            told.add(id(taken.node))
            yield taken, met, source


def _makes_own_number(event: Event) -> bool:
    """Whether a loop over a share of the rank's, in a data set, gives batches by what the samples are like."""
    loop = event.node
    if event.name != "iterate" or not isinstance(loop, ast.For) or not event.function.name.endswith("__iter__"):
        return False
    if not isinstance(event.owner, Made) or event.owner.name != "[]" or not any(map(asks_rank, event.owner.args)):
        return False
    endless = any(isinstance(one, ast.While) for one in walk(event.function.syntax))
    return not endless and _yields_by_content(loop)


def _yields_by_content(loop: ast.For) -> bool:
    """Whether a test of what the items hold decides whether a round yields."""
    names = {one.id for one in walk(loop.target) if isinstance(one, ast.Name)}
    nodes = [one for statement in loop.body for one in walk(statement)]
    measured: set[str] = set()
    for _ in range(_ROUNDS):
        for one in nodes:
            if isinstance(one, (ast.Assign, ast.AugAssign)) and (
                _measures(one.value, names) or _names(one.value) & measured
            ):
                targets = one.targets if isinstance(one, ast.Assign) else [one.target]
                measured |= {each.id for each in targets if isinstance(each, ast.Name)}
    tests = [
        one.test
        for one in nodes
        if isinstance(one, ast.If) and any(isinstance(each, ast.Yield) for part in one.body for each in walk(part))
    ]
    return any(_measures(test, names) or _names(test) & measured for test in tests)


def _measures(value: ast.expr, names: set[str]) -> bool:
    """Whether a value asks an item for what it holds: `cut["duration"]`, `len(text)`, `cut.frames`."""
    for one in walk(value):
        if (
            isinstance(one, (ast.Subscript, ast.Attribute))
            and isinstance(one.value, ast.Name)
            and one.value.id in names
        ):
            return True
        if isinstance(one, ast.Call) and any(isinstance(each, ast.Name) and each.id in names for each in one.args):
            return True
    return False


def _names(value: ast.expr) -> set[str]:
    return {one.id for one in walk(value) if isinstance(one, ast.Name)}


def _ends_with_data(taken: Event, execution: Execution) -> bool:
    """Whether the end of the batches leaves the loop: `except StopIteration: break`."""
    return not taken.args[1:] and any(
        one.name in _LEAVES and one.is_handled and one.loops == taken.loops and one.function is taken.function
        for one in execution.events
    )


def _is_round(event: Event, taken: Event) -> bool:
    """Whether an event is in the loop that takes a batch in each round."""
    if taken.name == "next":
        return bool(taken.loops) and taken.loops[-1] in event.loops
    return any(loop.node is taken.node for loop in event.loops)


def _is_of(leap: Event, taken: Event) -> bool:
    """Whether a leap leaves that loop, and not one in it, nor a function that is called there."""
    loop: OpenLoop | None = leap.loops[-1] if leap.loops and leap.function is taken.function else None
    return loop is not None and (loop.node is taken.node or (taken.name == "next" and loop is taken.loops[-1]))


def _is_joined(met: Event) -> bool:
    return any(isinstance(one, Made) and one.name.endswith(_JOINS) for one in met.contexts)

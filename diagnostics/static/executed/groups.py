"""Process groups that are made twice, time limits, and roots that are no members of a group. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from diagnostics.agent.shared import operations
from diagnostics.static.executed.saved_files import on_one_rank
from diagnostics.static.executed.training import operation
from diagnostics.static.execution.events import Event, Execution, OpenLoop
from diagnostics.static.execution.library import LAUNCHERS
from diagnostics.static.execution.values import Const, Generator, Items, Made, Value, options, sources, usual
from diagnostics.static.program.ast_walk import walk

_INIT = "torch.distributed.init_process_group"
_ENDS = frozenset(["torch.distributed.destroy_process_group"])
_UNITS = {"days": 86400, "seconds": 1, "minutes": 60, "hours": 3600, "milliseconds": 0.001, "weeks": 604800,
          "microseconds": 0.000001}  # fmt: skip
_ORDER = ("days", "seconds", "microseconds", "milliseconds", "minutes", "hours", "weeks")


def made_twice(execution: Execution) -> Iterator[tuple[Event, Event]]:
    """Yields (second init_process_group, first one) where both surely come, in one process, and none ends between.

    They are one call where a loop comes to it in each round.
    """
    first: Event | None = None
    ends = [one for one in execution.events if one.name in _ENDS]
    for one in execution.events:
        if one.name in _ENDS:
            first = None
        elif one.name == _INIT and _surely_comes(one):
            again = any(_comes_again(loop) and not _within(ends, loop) for loop in one.loops)
            if (first is not None and one.node is not first.node) or (again and not _in_process(one, execution)):
                yield one, first or one
                return
            first = one


def _comes_again(loop: OpenLoop) -> bool:
    """Whether a loop goes round more than once: it is not left by its own, and not over one thing."""
    if any(isinstance(one, (ast.Break, ast.Return)) for one in walk(loop.node)):
        return False
    over = loop.over
    return not isinstance(over, (Items, Generator)) or (isinstance(over, Items) and (over.open or len(over.items) > 1))


def _within(events: Sequence[Event], loop: OpenLoop) -> bool:
    return any(each.node is loop.node for one in events for each in one.loops)


def _in_process(event: Event, execution: Execution) -> bool:
    """Whether an event is in processes that were started for it."""
    started = {id(one.node) for one in execution.events if one.name in LAUNCHERS}
    return any(id(one.call) in started for one in event.frames)


def _surely_comes(event: Event) -> bool:
    caught = any(each.node.handlers for each in event.tries)
    return not caught and not event.contexts and not event.is_handled and not event.guards


def limits(execution: Execution) -> Iterator[tuple[Event, float, bool]]:
    """Yields (call that is given a time limit, its seconds, whether its number has no unit)."""
    for one in execution.events:
        if operation(one) or one.name in (_INIT, "torch.distributed.new_group"):
            given = one.keywords.get("timeout")
            for value in options(given):
                if isinstance(value, Made) and value.name == "datetime.timedelta":
                    seconds = _seconds(value)
                    if seconds is not None:
                        yield one, seconds, bool(value.args)


def _seconds(value: Made) -> float | None:
    total = 0.0
    for name, part in (*zip(_ORDER, value.args, strict=False), *value.keywords.items()):
        number = usual(part)
        if name not in _UNITS or not isinstance(number, Const) or not isinstance(number.value, (int, float)):
            return None
        total += number.value * _UNITS[name]
    return total


def roots_outside(execution: Execution) -> Iterator[tuple[Event, str, Made]]:
    """Yields (operation, "src" or "dst", group) where the root is a number, and ranks have groups of their own."""
    made_in_loops = {id(one.value) for one in execution.named("torch.distributed.new_group") if _by_round(one)}
    for one in execution.events:
        name = operations.ROOTED.get(operation(one))
        root = one.keywords.get(name) if name else None
        group = one.keywords.get("group")
        if not name or not isinstance(root, Const) or not isinstance(root.value, int) or on_one_rank(one):
            continue
        found = next((each for each in options(group) if isinstance(each, Made)
                      and (id(each) in made_in_loops or _of_dimension(each))), None)  # fmt: skip
        if found is not None:
            yield one, name, found


def _by_round(event: Event) -> bool:
    """Whether the members of a group are those of a round of a loop."""
    if not event.loops:
        return False
    return any(isinstance(one, Made) and one.name in ("item", "count") for one in sources(event.argument(0, "ranks")))


def _of_dimension(group: Made) -> bool:
    """Whether a group is that of one dimension of a mesh of several."""
    if group.name != ".get_group":
        return False
    for one in sources(group.owner):
        if isinstance(one, Made) and one.name.rpartition(".")[2] in ("init_device_mesh", "DeviceMesh"):
            shape = one.argument(1, "mesh_shape")
            asked = bool(group.args or group.keywords) or (isinstance(group.owner, Made) and group.owner.name == "[]")
            return asked and isinstance(shape, Items) and len(shape.items) > 1 and not _is_one(shape.items[0])
    return False


def _is_one(value: Value) -> bool:
    return isinstance(value, Const) and value.value == 1

"""Schedules that are counted in steps of the optimizer and go on with every micro-batch. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.static.executed.rounds import counts
from diagnostics.static.execution.events import Event, Execution, Guard
from diagnostics.static.execution.values import MOST_SEEN, Const, Made, Procedure, Value, made_of, same, sources

_SCHEDULES = "torch.optim.lr_scheduler."
_OTHER = "ReduceLROnPlateau"


def stepped_by_micro_batch(execution: Execution) -> Iterator[tuple[Event, Made, Event, Guard]]:
    """Yields (step of a schedule, the schedule, step of its optimizer, the test that this one is under)."""
    told: set[int] = set()
    for one in execution.named(".step"):
        schedule = one.owner
        if not isinstance(schedule, Made) or not schedule.name.startswith(_SCHEDULES) or not one.loops:
            continue
        optimizer = schedule.argument(0, "optimizer")
        if schedule.name.endswith(_OTHER) or optimizer is None or id(one.node) in told:
            continue
        for step in execution.named(".step"):
            given = (step.owner, *step.args[:1])
            if step is one or step.loops != one.loops or not any(each is optimizer for each in given):
                continue
            guard = next((each for each in step.guards if _is_beside(each, one)), None)
            every = _every(guard.test) if guard is not None else None
            if guard is not None and every is not None and _is_divided_by(schedule, every):
                told.add(id(one.node))
                yield one, schedule, step, guard
                break


def _is_beside(guard: Guard, event: Event) -> bool:
    """Whether an event is not under a test of the round."""
    return guard.taken and counts(guard.test) and not any(each.node is guard.node for each in event.guards)


def _every(test: Value) -> Value | None:
    """Returns n of `(i + 1) % n == 0`."""
    return next((one.args[1] for one in sources(test) if isinstance(one, Made) and one.name == "%"
                 and len(one.args) == 2), None)  # fmt: skip


def _is_divided_by(schedule: Made, every: Value) -> bool:
    """Whether a number of the schedule is how often n goes into another one, and is not multiplied by it again."""
    found = list(_numbers(schedule))
    products = [one.args for one in found if one.name == "*" and len(one.args) == 2]
    undone = {id(each) for pair in products for one, other in (pair, pair[::-1]) if _is_one(other, every)
              for each in sources(one)}  # fmt: skip
    return any(
        one.name in ("//", "/") and len(one.args) == 2 and _is_one(one.args[1], every) and id(one) not in undone
        for one in found
    )


def _is_one(value: Value, other: Value) -> bool:
    """Whether two values are the same number."""
    if isinstance(value, Const) and isinstance(other, Const):
        return bool(value.value == other.value)
    return value is other or same(value, other)


def _numbers(schedule: Made) -> Iterator[Made]:
    """Yields what the arguments of a schedule are computed from; of a function that is given, what it sees."""
    waiting: list[Value | None] = [*schedule.args[1:], *schedule.keywords.values()]
    seen: set[int] = set()
    while waiting and len(seen) < MOST_SEEN:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, Made):
            yield one
        if isinstance(one, Procedure):
            waiting += _seen_by(one)
        waiting += made_of(one)


def _seen_by(function: Procedure) -> list[Value]:
    """Returns what a function of another one uses of the names around it."""
    if function.scope.function.name == "<module>":
        return []
    used = {getattr(node, "id", "") for node in function.function.own_nodes}
    return [value for name, value in function.scope.fields.items() if name in used]

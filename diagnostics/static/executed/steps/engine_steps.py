"""Steps of a DeepSpeed engine that the program counts itself, though the engine counts its micro-batches. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.static.execution.events import Event, Execution, Guard
from diagnostics.static.execution.values import Const, Made, Mapped, Value, same, sources, usual

_INITIALIZE = "deepspeed.initialize"
_KEY = "gradient_accumulation_steps"
_BOUNDARY = ".is_gradient_accumulation_boundary"


def counted_twice(execution: Execution) -> Iterator[tuple[Event, Guard, Event]]:
    """Yields (engine.step(), the test that lets every k-th one through, the engine's backward outside of it)."""
    if any(execution.named(".set_gradient_accumulation_boundary")):
        return  # the engine is told which step counts
    steps = [one for one in execution.named(".step") if _made_by(one.owner) is not None]
    for one in steps:
        others = [each for each in steps if each is not one and same(one.owner, each.owner)]
        if any(not _counting(each) or _is_other_arm(one, each) for each in others):
            continue
        guard = next(iter(_counting(one)), None)
        backward = next((each for each in execution.named(".backward") if same(each.owner, one.owner)), None)
        if guard is None or backward is None or any(each.node is guard.node for each in backward.guards):
            continue
        made = _made_by(one.owner)
        if made is not None and (_accumulates(made) or _asks_engine(guard)):
            yield one, guard, backward


def _is_other_arm(one: Event, other: Event) -> bool:
    """Whether two events stand in the two arms of one test."""
    return any(a.node is b.node and a.taken is not b.taken for a in one.guards for b in other.guards)


def _made_by(value: Value | None) -> Made | None:
    """Returns the deepspeed.initialize() whose engine a value is."""
    while isinstance(value, Made) and value.name in ("[]", "item"):
        value = value.owner
    return value if isinstance(value, Made) and value.name == _INITIALIZE else None


def _counting(event: Event) -> list[Guard]:
    return [one for one in event.guards if not one.handler and (_asks_engine(one) or any(
        isinstance(each, Made) and each.name == "%" for each in sources(one.test)))]  # fmt: skip


def _asks_engine(guard: Guard) -> bool:
    return any(isinstance(one, Made) and one.name == _BOUNDARY for one in sources(guard.test))


def _accumulates(made: Made) -> bool:
    """Whether the engine is surely told to accumulate over more than one micro-batch."""
    config = made.argument(7, "config") or made.keywords.get("config_params")
    if not isinstance(config, Mapped) or _KEY not in config.fields:
        return False
    given = usual(config.fields[_KEY])
    return not isinstance(given, Const) or (isinstance(given.value, int) and given.value > 1)

"""Parameters that were frozen when a model was wrapped, and are trained later. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from diagnostics.static.executed.training import is_part, parameters_of, parts, wraps
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.library import WRAPPERS
from diagnostics.static.execution.values import Const, Instance, Value

_DDP = "torch.nn.parallel.DistributedDataParallel"


def unfrozen_after_wrap(execution: Execution) -> Iterator[tuple[Event, Event, Event]]:
    """Yields (unfreezing, wrapping, freezing before it)."""
    events = execution.events
    for at, wrap, model in wraps(execution):
        if wrap.name != _DDP:
            continue
        frozen = next((one for one in events[:at] if _sets(one) is False and _concerns(one, model)), None)
        for place, one in enumerate(events[at:], at) if frozen is not None else ():
            again = any(two.name in WRAPPERS and two is not wrap for two in events[place:])
            if _sets(one) is True and not again and _concerns(one, model) and not _undone(events[at:], model):
                yield _where_asked_for(_where_they_part(one, frozen), model), wrap, frozen  # type: ignore[arg-type, misc] # asked for above
                break


def _where_they_part(late: Event, early: Event) -> Event:
    """Returns the late event, where one helper does both the call of it that is not the early one's."""
    if late.node is not early.node:
        return late
    for mine, other in zip(reversed(late.frames), reversed(early.frames), strict=False):
        if mine.call is not other.call:
            return replace(late, node=mine.call, function=mine.caller)
    return late


def _where_asked_for(late: Event, model: Value) -> Event:
    """Returns a change in a method of the model itself where the method is called: there it is too late."""
    own = {id(one.kind.kind) for one in parts(model) if isinstance(one, Instance)}
    for frame in reversed(late.frames):
        if late.function is not frame.function or id(frame.function.owner) not in own:
            break
        late = replace(late, node=frame.call, function=frame.caller)
    return late


def _sets(event: Event) -> bool | None:
    """Returns what `requires_grad` is set to by an event, None where that is not what it does."""
    if event.name not in ("set requires_grad", ".requires_grad_"):
        return None
    given = event.argument(0, "requires_grad")
    if given is None:
        return True
    return bool(given.value) if isinstance(given, Const) else None


def _concerns(event: Event, model: Value) -> bool:
    whole = parameters_of(event.owner)
    return is_part(whole if whole is not None else event.owner, model)


def _undone(events: list[Event], model: Value) -> bool:
    """Whether the same program switches them off again after wrapping: they were trained, as in a GAN."""
    return any(_sets(one) is False and _concerns(one, model) for one in events)

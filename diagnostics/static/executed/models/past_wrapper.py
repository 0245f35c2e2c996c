"""A training forward of the model inside a wrapper. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from diagnostics.static.executed.training import is_part, operation, parts, wrapper_of, wraps
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Instance, Made, Value, sources


def trained_past_wrapper(execution: Execution) -> Iterator[tuple[Event, Event, Event]]:
    """Yields (forward, wrapping, backward pass) where a loss comes from the inner model alone."""
    events = execution.events
    if any(operation(one) and ".grad" in _names(one) for one in events):
        return  # gradients are averaged by hand
    for at, wrap, model in wraps(execution):
        if any(one.name == wrap.name and one is not wrap and one.argument(0, "module") is model for one in events):
            continue
        for backward in events[at:]:
            if backward.name != ".backward" or backward.without_gradients:
                continue
            made = [one for one in sources(backward.owner) if isinstance(one, Made) and one.name == "()"]
            if any(wrapper_of(one.owner) is not None for one in made):
                continue
            past = next((one for one in events[at:] if one.name == "()" and is_part(one.owner, model)
                         and any(one.value is each for each in made) and not one.without_gradients), None)  # fmt: skip
            if past is not None and not _is_evaluated(past, model, events) and not _is_chosen(past, model, events):
                yield _from_outside(past, model), wrap, backward
                break


def _is_evaluated(past: Event, model: Value, events: Sequence[Event]) -> bool:
    """Whether the function itself has put the model into eval mode: its gradients are looked at, not trained by."""
    within = [one for one in events if one.function is past.frames[-1].function] if past.frames else []
    own = [one for one in within or events if one.name in (".eval", ".train") and _is_same(one.owner, model)]
    return bool(own) and all(one.name == ".eval" for one in own)


def _is_chosen(past: Event, model: Value, events: Sequence[Event]) -> bool:
    """Whether the same call in the same place goes to an object that has the model wrapped, and to another one instead.

    `kind = Sharded if world > 1 else Plain; kind(model).train()` makes one of the two trainers.
    """
    for one in events:
        wrapper = wrapper_of(one.owner) if one.name == "()" and one.node is past.node else None
        if wrapper is not None and wrapper.argument(0, "module") is model:
            apart = next((pair for pair in zip(past.frames, one.frames, strict=False) if pair[0] is not pair[1]), None)
            if apart is not None and apart[0].call is apart[1].call:
                return True
    return False


def _is_same(value: Value | None, model: Value) -> bool:
    wrapper = wrapper_of(value)
    return value is model or (wrapper is not None and wrapper.argument(0, "module") is model)


def _from_outside(past: Event, model: Value) -> Event:
    """Returns the call by which a method of the inner model was entered, in which the forward is."""
    kinds = {one.kind.kind for one in parts(model) if isinstance(one, Instance)}
    entered = next((one for one in past.frames if one.function.owner in kinds), None)
    return replace(past, node=entered.call, function=entered.caller) if entered is not None else past


def _names(event: Event) -> set[str]:
    return {one.name for given in event.args for one in sources(given) if isinstance(one, Made)}

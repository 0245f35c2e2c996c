"""Optimizers, schedules and scalers that took a checkpoint's state and that another one stands in for. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.static.executed.training import parameters_of
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Instance, Items, Made, Value, options, sources
from diagnostics.static.program.functions import Function

_KEPT = ("torch.optim.", "torch.amp.GradScaler", "torch.cuda.amp.GradScaler")
_STEPS = frozenset([".step", ".update", ".update_parameters"])
_MOST_LISTED = 4


def replaced_after_load(execution: Execution) -> Iterator[tuple[Event, Event, ast.AST, Function]]:
    """Yields (making of the new one, load into the first, call by which the new one came, its function).

    Only where the training goes on with the new one. Both are of the same class, about the same model or optimizer; the
    new one is made wherever the first was loaded, and nothing asks the first again.
    """
    made_at = {id(one.value): (at, one) for at, one in enumerate(execution.events) if _is_made(one)}
    for at, loaded in enumerate(execution.events):
        if loaded.name != ".load_state_dict" or loaded.is_handled or not _is_read(loaded.argument(0, "state_dict")):
            continue
        first = made_at.get(id(loaded.owner))
        if first is None or _is_asked(execution.events[at + 1 :], loaded.owner):
            continue
        for later, new in made_at.values():
            if later > at and _stands_in(new, first[1], loaded) and _is_trained(execution, new.value, later):
                yield new, loaded, *_came_by(new, loaded)
                break


def _is_made(event: Event) -> bool:
    return isinstance(event.value, Made) and event.name.startswith(_KEPT) and event.value.name == event.name


def _is_read(state: Value | None) -> bool:
    """Whether a state was read from a file."""
    return any(isinstance(one, Made) and one.name.rpartition(".")[2] == "load" for one in sources(state))


def _is_asked(events: list[Event], first: Value | None) -> bool:
    """Whether anything is done with an object, or made of it, but that it is loaded."""
    return any(
        any(one is first for value in (event.owner, *event.args, *event.keywords.values()) for one in sources(value))
        for event in events
        if not (event.name == ".load_state_dict" and event.owner is first)
    )


def _stands_in(new: Event, first: Event, loaded: Event) -> bool:
    """Whether an object is made in the place of another one wherever that was loaded."""
    if new.name != first.name or len(new.loops) > len(loaded.loops):
        return False
    if any(one.node is not other.node for one, other in zip(new.loops, loaded.loops, strict=False)):
        return False
    known = [(one.node, one.taken) for one in (*first.guards, *loaded.guards)]
    if any(one.handler or (one.node, one.taken) not in known for one in new.guards):
        return False
    about = _about(first)
    return any(one is other for one in _about(new) for other in about) or (not about and not _about(new))


def _about(event: Event) -> list[Value]:
    """Returns the models or the optimizer that an object was made for."""
    given = event.args[0] if event.args else next(iter(event.keywords.values()), None)
    found: list[Value] = []
    for one in sources(given):
        model = parameters_of(one)
        found += options(model) if model is not None else ()
        if isinstance(one, Instance) or (isinstance(one, Made) and one.name.startswith(_KEPT)):
            found.append(one)
    if isinstance(given, Items):
        found += [one for one in given.items[:_MOST_LISTED] if isinstance(one, Instance)]
    return found


def _is_trained(execution: Execution, new: Value | None, made: int) -> bool:
    """Whether a training goes on with an object, and nothing gives it a state of its own."""
    stepped = False
    for one in execution.events[made + 1 :]:
        given = (one.owner, *one.args)
        if one.name.startswith(".load") and any(each is new for value in given for each in options(value)):
            return False
        stepped = stepped or (bool(one.loops) and one.name in _STEPS
                              and any(each is new for value in given for each in options(value)))  # fmt: skip
    return stepped


def _came_by(new: Event, loaded: Event) -> tuple[ast.AST, Function]:
    """Returns the call by which an object came to be made, in the innermost function that came to the load, too."""
    for at, one in enumerate(new.frames):
        if at >= len(loaded.frames) or loaded.frames[at].call is not one.call:
            return one.call, one.caller
    return new.node, new.function

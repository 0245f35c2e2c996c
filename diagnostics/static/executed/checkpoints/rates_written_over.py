"""Schedules that write their first rate over the one that their optimizer has from a checkpoint. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Const, Items, Made, Value, options, sources

_SCHEDULES = "torch.optim.lr_scheduler."
# Their making multiplies each group's rate by a factor, and each step goes on from the rate that it finds.
_FACTORS = {"LinearLR": (1, "start_factor"), "ConstantLR": (1, "factor")}
_SEQUENCE = "SequentialLR"
# They work out each rate from the one that the optimizer began with, and so put it right at their next step.
_CLOSED = frozenset(["LambdaLR", "OneCycleLR", "CyclicLR", "CosineAnnealingWarmRestarts"])


def written_over(execution: Execution) -> Iterator[tuple[Event, Event, Event]]:
    """Yields (making of a schedule, load of its optimizer's state before, load of its own state behind)."""
    events = execution.events
    for at, one in enumerate(events):
        optimizer = one.argument(0, "optimizer") if _writes(one) else None
        if optimizer is None or _is_part_of_sequence(one, events):
            continue
        loads = [
            (place, each) for place, each in enumerate(events)
            if each.name == ".load_state_dict" and any(value is optimizer for value in options(each.owner))
        ]  # fmt: skip
        before = next((each for place, each in reversed(loads) if place < at and _together(each, one)), None)
        if before is None or any(place > at for place, _ in loads) or _sets_rates(one, before):
            continue
        made = one.value
        behind = next((each for each in events[at:] if each.name == ".load_state_dict"
                       and any(value is made for value in options(each.owner))), None)  # fmt: skip
        if behind is not None and any(each.loops and each.name == ".step" and _is(each.owner, made) for each in events):
            yield one, before, behind


def _is(value: Value | None, wanted: Value | None) -> bool:
    return wanted is not None and any(one is wanted for one in options(value))


def _kind(event: Event) -> str:
    return event.name[len(_SCHEDULES) :] if event.name.startswith(_SCHEDULES) else ""


def _writes(event: Event) -> bool:
    """Whether the making of a schedule changes the rates for good: what it does at its steps is relative to them."""
    kind = _kind(event)
    last = event.keywords.get("last_epoch")
    if last is not None and not (isinstance(last, Const) and last.value == -1):
        return False
    if kind in _FACTORS:
        factor = event.argument(*_FACTORS[kind])
        return not (isinstance(factor, Const) and factor.value == 1)
    if kind == _SEQUENCE:
        parts = event.argument(1, "schedulers")
        inner = [one for one in parts.items if isinstance(one, Made)] if isinstance(parts, Items) else []
        kinds = [one.name.rpartition(".")[2] for one in inner if one.name.startswith(_SCHEDULES)]
        return bool(kinds) and not all(one in _CLOSED for one in kinds)
    return False


def _is_part_of_sequence(event: Event, events: list[Event]) -> bool:
    """Whether a schedule is one of several that another one puts in a row, which is told instead."""
    return any(
        _kind(one) in (_SEQUENCE, "ChainedScheduler")
        and any(each is event.value for given in (*one.args, *one.keywords.values()) for each in sources(given))
        for one in events
    )


def _together(loaded: Event, made: Event) -> bool:
    """Whether a run comes to both, and the state is one of a file."""
    ways = {(id(one.node), one.taken) for one in loaded.guards}
    if any((id(one.node), not one.taken) in ways for one in made.guards):
        return False
    return not loaded.is_handled and not made.is_handled


def _sets_rates(*events: Event) -> bool:
    """Whether a file writes rates into the groups by itself."""
    sources_of = {one.function.file: one.function.source for one in events}
    return any(
        isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.slice, ast.Constant)
        and node.slice.value == "lr"
        for source in sources_of.values()
        if source.tree is not None
        for node in ast.walk(source.tree)
    )

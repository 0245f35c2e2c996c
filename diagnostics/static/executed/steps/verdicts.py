"""Batches that one rank's loss alone decides to leave out on all ranks. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.static.executed.own_data import OwnData
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Items, Made, OneOf, Value, made_of, options, sources

_OWN_OPERATIONS = ("torch.distributed.", "accelerate.utils.")
_FINITE = frozenset(["isfinite", "isnan", "isinf"])


def left_out_by_one_rank(execution: Execution) -> Iterator[tuple[Event, Made, Made, Event]]:
    """Yields (broadcast, test for a finite number, the rank's samples, step of the optimizer that it decides about).

    Only where the verdict is about a batch that the step is made for.
    """
    given = [one for one in execution.events if _hands_out(one)]
    if not given:
        return
    steps = [one for one in execution.named(".step") if one.loops and one.guards]
    own = OwnData(execution)
    for one in given:
        told = _verdict(one, own)
        if told is None:
            continue
        test, samples = told
        carried = _carriers(one)
        stepped = next((each for each in steps if _decides(carried, each, one)), None)
        if stepped is not None:
            yield one, test, samples, stepped


def _hands_out(event: Event) -> bool:
    home, _, last = event.name.rpartition(".")
    return last in operations.TO_ALL and f"{home}.".startswith(_OWN_OPERATIONS) and bool(event.args)


def _verdict(event: Event, own: OwnData) -> tuple[Made, Made] | None:
    """Returns the test for a finite number in what is handed out, and the samples that it is about."""
    for value in _given(event):
        for inner in sources(value):
            if isinstance(inner, Made) and inner.name.rpartition(".")[2] in _FINITE:
                samples = next((found for part in made_of(inner) if (found := own.of(part)) is not None), None)
                if samples is not None:
                    return inner, samples
    return None


def _given(event: Event) -> tuple[Value, ...]:
    value = event.args[0]
    return (value, *value.items) if isinstance(value, Items) else (value,)


def _carriers(event: Event) -> set[int]:
    """Returns what holds the verdict behind a broadcast: what was handed over, and what came back."""
    held = [each for one in (*_given(event), event.value) if one is not None for each in (one, *options(one))]
    return {id(one) for one in held if isinstance(one, (Made, Items, OneOf))}


def _decides(carried: set[int], step: Event, event: Event) -> bool:
    if not event.loops or event.loops[-1] is not step.loops[-1]:
        return False
    return any(id(value) in carried for one in step.guards for value in sources(one.test))

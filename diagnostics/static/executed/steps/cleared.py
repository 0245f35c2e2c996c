"""Gradients that are cleared between the micro-batches whose sum a step should take. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.static.executed.rounds import comes_in_round, counts
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Made

_ROUNDS = 12
_OPTIMIZERS = "torch.optim."


def cleared_before_step(execution: Execution) -> Iterator[tuple[Event, Event, Event]]:
    """Yields (clearing, backward pass, step) where gradients of a round that no step has taken are cleared."""
    for step in execution.named(".step"):
        if not _is_optimizer(step) or not step.loops or not any(counts(one.test) for one in step.guards):
            continue
        inside = [one for one in execution.events if one.loops and one.loops[-1] is step.loops[-1]]
        if any(one.name == ".step" and _is_optimizer(one) and one.owner is not step.owner for one in inside):
            continue  # whose gradients a backward pass leaves is not known
        round_of = [one for one in inside if one.name in (".backward", ".zero_grad") or one is step]
        found = _lost(round_of, step)
        if found is not None:
            yield *found, step
            return


def _lost(round_of: list[Event], step: Event) -> tuple[Event, Event] | None:
    """Returns a clearing, and the backward pass whose gradients no step has taken before it."""
    waiting: Event | None = None
    stepped = False
    for number in range(_ROUNDS):
        for one in round_of:
            comes = comes_in_round(one, number)
            if comes is None:
                return None
            if not comes:
                continue
            if one is step:
                stepped, waiting = True, None
            elif one.name == ".backward":
                waiting = one
            elif waiting is not None and not one.is_handled:
                return (one, waiting) if stepped or number + 1 < _ROUNDS else None
    return None


def _is_optimizer(event: Event) -> bool:
    owner = event.owner
    return isinstance(owner, Made) and owner.name.startswith(_OPTIMIZERS) and "lr_scheduler" not in owner.name

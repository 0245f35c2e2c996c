"""Parameters that are frozen by what a training calls to save or to evaluate, and that nothing trains again. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.static.executed.training import is_part, parameters_of, runs_beside
from diagnostics.static.execution.events import Entered, Event, Execution, OpenLoop
from diagnostics.static.execution.values import Const, Made, Value, sources
from diagnostics.static.program.functions import Function

# What is called in passing, and is to leave the model as it was.
_PASSING = re.compile(r"(?:^|_)(?:save|checkpoint|snapshot|export|dump|push|upload|log|eval|evaluate|validate|test"
                      r"|predict|sample|generate|infer)(?:$|_)", re.IGNORECASE)  # fmt: skip
_ON_PURPOSE = re.compile(r"freeze|freezing|stage|phase|requires_grad|trainable|schedule", re.IGNORECASE)
_SETS = ("set requires_grad", ".requires_grad_")
_COPIES = frozenset(["copy.deepcopy", "copy.copy"])
_LEAVES = (ast.Return, ast.Break, ast.Raise)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    """What freezes, the call in the loop that comes to it, and the backward pass of that loop."""

    event: Event
    call: Entered
    backward: Event


def frozen_in_passing(execution: Execution) -> Iterator[Frozen]:
    """Yields what is frozen in a loop that trains, below a call that saves or evaluates."""
    switches = [(at, one) for at, one in enumerate(execution.events) if one.name in _SETS]
    for at, one in switches:
        call = next((each for each in one.frames if _PASSING.search(_last(each.function))), None)
        if call is None or not _is_off(_given(one)) or runs_beside(one) or one.is_handled:
            continue
        if any(_ON_PURPOSE.search(_last(each.function)) for each in one.frames) or _is_copy(one.owner):
            continue
        backward = next((each for each in execution.named(".backward") if _common(each, one, call)), None)
        loop = _common(backward, one, call) if backward is not None else None
        if backward is None or loop is None or _leaves(call, loop) or _is_made_in(execution, loop):
            continue
        back = any(not _is_off(_given(each)) and any(inner is loop for inner in each.loops) for _, each in switches)
        if not back and _is_trained(one, [each for place, each in switches if place < at], execution, loop):
            yield Frozen(event=one, call=call, backward=backward)


def _last(function: Function) -> str:
    return function.name.rpartition(".")[2]


def _given(event: Event) -> Value | None:
    given = event.argument(0, "requires_grad")
    return Const(True) if given is None and event.name == ".requires_grad_" else given


def _is_off(value: Value | None) -> bool:
    """Whether a value is false, also of `and` with something that is."""
    if isinstance(value, Const):
        return not value.value
    if not isinstance(value, Made):
        return False
    if value.name == "and":
        return any(map(_is_off, value.args))
    return value.name == "not" and bool(value.args) and isinstance(value.args[0], Const) and bool(value.args[0].value)


def _is_copy(value: Value | None) -> bool:
    return any(isinstance(one, Made) and one.name in _COPIES for one in sources(value))


def _common(backward: Event, frozen: Event, call: Entered) -> OpenLoop | None:
    """Returns the innermost loop that comes to both; None where the backward pass is below the call."""
    if any(one.call is call.call for one in backward.frames):
        return None
    return next((one for one in reversed(backward.loops) if any(one is each for each in frozen.loops)), None)


def _leaves(call: Entered, loop: OpenLoop) -> bool:
    """Whether the loop ends with the block that a call stands in: nothing is trained behind it."""
    for node in ast.walk(loop.node):
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if node is loop.node or not isinstance(block, list) or not isinstance(node, ast.If):
                continue
            inside = any(each is call.call for one in block for each in ast.walk(one))
            if inside and isinstance(block[-1], _LEAVES):
                return True
    return False


def _is_made_in(execution: Execution, loop: OpenLoop) -> bool:
    """Whether optimizers are made in a loop: each round of it is a training of its own."""
    return any(one.name.startswith("torch.optim.") and any(each is loop for each in one.loops)
               and "lr_scheduler" not in one.name for one in execution.events)  # fmt: skip


def _is_trained(frozen: Event, before: list[Event], execution: Execution, loop: OpenLoop) -> bool:
    """Whether what is frozen was switched on before by the same line, or an optimizer of the loop holds it."""
    if any(one.node is frozen.node and not _is_off(_given(one)) for one in before):
        return True
    whole = parameters_of(frozen.owner)
    for step in execution.named(".step"):
        optimizer = step.owner if isinstance(step.owner, Made) and step.owner.name.startswith("torch.optim.") else None
        if optimizer is None or not any(one is loop for one in step.loops):
            continue
        model = parameters_of(optimizer.argument(0, "params"))
        if model is not None and is_part(whole if whole is not None else frozen.owner, model):
            return True
    return False

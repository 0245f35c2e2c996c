"""Steps under which a run is logged to Weights & Biases, where one that comes later is lower. Pure.

The service keeps one step a run, which only rises: a row for a lower one is dropped, with a line in the log.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from diagnostics.agent.shared import operations
from diagnostics.static.executed.steps.plateau import averages
from diagnostics.static.executed.training import operation
from diagnostics.static.execution.events import Event, Execution, OpenLoop
from diagnostics.static.execution.library import SAME_ITEMS
from diagnostics.static.execution.values import Const, Made, Value, sources
from diagnostics.static.program.functions import Function

_INIT = "wandb.init"
_LOGS = frozenset(["wandb.log", "wandb.run.log"])
_MOST_FRAMES = 4


def rows_of_lower_steps(execution: Execution) -> Iterator[tuple[Event, Event]]:
    """Yields (the log whose rows are dropped, the one that is ahead of it), of two that count differently.

    One counts for all ranks, or samples, the other for its own, or batches; or one counts batches, the other epochs.
    """
    logs = list(_logs(execution))
    summed = {id(one.args[0]) for one in execution.events if operation(one) in operations.SUMS_FOR_ALL and one.args
              and not averages(one) and "group" not in one.keywords}  # fmt: skip
    for behind, own in logs:
        for ahead, step in logs:
            if ahead is behind or _are_parted(ahead, behind):
                continue
            if _is_of_all(step, own, summed) or _counts_within(ahead, step, behind, own):
                yield behind, ahead
                break


def begun_anew(execution: Execution) -> Iterator[tuple[Event, OpenLoop]]:
    """Yields (a log, the loop that begins its steps anew in each of its rounds)."""
    for log, step in _logs(execution):
        for outer, inner in zip(log.loops, log.loops[1:], strict=False):
            if _repeats(outer) and _counts_from_start(step, inner):
                yield log, outer
                break


def given_at(log: Event) -> tuple[ast.AST, Function]:
    """Returns the call that says a step, which the one that logs may only hand on."""
    node, function = log.node, log.function
    for frame in reversed(log.frames[-_MOST_FRAMES:]):
        given = _given(node, 1, "step")
        if not isinstance(given, ast.Name) or given.id not in function.parameters or frame.function is not function:
            break
        place = function.parameters.index(given.id) - function.implied
        if _given(frame.call, place, given.id) is None:
            break
        node, function = frame.call, frame.caller
    return node, function


def _given(node: ast.AST, place: int, name: str) -> ast.expr | None:
    if not isinstance(node, ast.Call):
        return None
    named = next((one.value for one in node.keywords if one.arg == name), None)
    return named if named is not None else node.args[place] if 0 <= place < len(node.args) else None


def _logs(execution: Execution) -> Iterator[tuple[Event, Value]]:
    """Yields the logs of the one run that a program has, with the step of each that is told."""
    begins = list(execution.named(_INIT))
    if len(begins) > 1 or any(one.loops for one in begins):
        return
    for one in execution.events:
        of_run = one.name == ".log" and isinstance(one.owner, Made) and one.owner.name == _INIT
        step = one.argument(1, "step") if of_run or one.name in _LOGS else None
        if step is not None and not isinstance(step, Const) and one.loops:
            yield one, step


def _are_parted(one: Event, other: Event) -> bool:
    """Whether a test lets one of two events come, and not the other."""
    ways = {id(guard.node): guard.taken for guard in other.guards}
    return any(ways.get(id(guard.node), guard.taken) is not guard.taken for guard in one.guards)


def _is_of_all(step: Value, own: Value, summed: set[int]) -> bool:
    """Whether a step is the sum over the ranks of another one, or a multiple of it."""
    if step is own or not _counters(own):
        return False
    if isinstance(own, Made) and own.name == "//" and own.args[0] is step:
        return True
    for one in sources(step):
        if id(one) in summed and any(each is own for each in sources(one)):
            return True
        if isinstance(one, Made) and one.name == "*" and any(own is each for each in one.args):
            return not any(isinstance(each, Const) for each in one.args)
    return False


def _counts_within(ahead: Event, step: Value, behind: Event, own: Value) -> bool:
    """Whether a step is the number of an epoch, and the other one counts in a loop that each epoch goes through."""
    for place, outer in enumerate(ahead.loops[:-1]):
        if outer in behind.loops and _is_round(own, outer):
            inside = ahead.loops[place + 1 :]
            return any(_rises(name, inside) for name in _counters(step)) or _goes_on(step, outer, inside)
    return False


def _counters(step: Value) -> set[str]:
    """Returns the names of what a program counts up in a step."""
    return {
        one.args[0].value
        for one in sources(step)
        if isinstance(one, Made) and one.name == "counter" and one.args and isinstance(one.args[0], Const)
    }


def _rises(name: str, loops: Sequence[OpenLoop]) -> bool:
    """Whether a counter is counted up in the loops themselves, in each of their rounds."""
    return any(
        isinstance(one, ast.AugAssign)
        and isinstance(one.op, ast.Add)
        and getattr(one.target, "attr", getattr(one.target, "id", "")) == name
        for loop in loops
        for one in getattr(loop.node, "body", ())
    )


def _goes_on(step: Value, outer: OpenLoop, loops: Sequence[OpenLoop]) -> bool:
    """Whether a step is `epoch * batches + batch`."""
    found = [one for one in sources(step) if isinstance(one, Made)]
    times = any(one.name == "*" and any(_is_round(each, outer) for each in one.args) for one in found)
    return times and any(_is_round(one, loop) for one in found for loop in loops)


def _is_round(value: Value | None, loop: OpenLoop) -> bool:
    """Whether a value is the number of a loop's round, but for a number that is added."""
    while isinstance(value, Made) and value.name in ("+", "-") and isinstance(value.args[1], Const):
        value = value.args[0]
    over = _plain(loop.over)
    if not isinstance(value, Made) or not isinstance(over, Made):
        return False
    if value.name == "count":
        return over.name == "enumerate" and value.owner is over
    return value.name == "item" and over.name == "range" and _plain(value.owner) is over


def _counts_from_start(step: Value, loop: OpenLoop) -> bool:
    """Whether a step is the number of a loop's round, in a loop that begins with the same one each time."""
    over = _plain(loop.over)
    if not isinstance(over, Made) or not _is_round(step, loop):
        return False
    start = over.argument(1, "start") if over.name == "enumerate" else over.args[0] if len(over.args) > 1 else None
    return start is None or isinstance(start, Const)


def _repeats(loop: OpenLoop) -> bool:
    """Whether a loop is one of a number of rounds, or to an end that it comes to: of epochs, not of runs."""
    over = _plain(loop.over)
    if isinstance(over, Made) and over.name == "range":
        return not (over.args and isinstance(over.args[-1], Const) and over.args[-1].value == 1)
    return loop.over is None


def _plain(value: Value | None) -> Value | None:
    """Returns what a progress bar goes over."""
    while isinstance(value, Made) and value.name in SAME_ITEMS and value.name != "enumerate" and value.args:
        value = value.args[0]
    return value

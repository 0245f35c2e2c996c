"""Which rounds of a loop are synchronised and in which the optimizer steps, by tests on the loop's counter. Pure."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from diagnostics.static.executed.training import loader_of
from diagnostics.static.execution.events import Event, Execution, OpenLoop
from diagnostics.static.execution.values import Const, Made, OneOf, Value, sources

_EVERY = 4  # micro-batches of a step, where their number is not known
_MANY = 1009  # batches of an epoch: a prime, no multiple of any number of micro-batches
_ROUNDS = 12
_RANKS = 8  # where several take part: with one there is nothing to be averaged
_NUMBERS = {"len": _MANY, "torch.distributed.get_world_size": _RANKS}
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "%": operator.mod, "//": operator.floordiv,
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def steps_in_unsynchronised_rounds(execution: Execution) -> Iterator[tuple[Event, Event, ast.AST]]:
    """Yields (backward pass, optimizer step, test of no_sync) where a step comes in a round that kept its gradients."""
    for backward in execution.named(".backward"):
        context = next((one for one in backward.contexts if _is_no_sync(one)), None)
        if context is None or not backward.loops:
            continue
        leaps = [one for one in execution.named("break") if one.loops[-1:] == backward.loops[-1:]]
        for step in execution.named(".step"):
            place = None
            if _are_parted(backward, step):
                continue
            if step.loops and step.loops[-1] is backward.loops[-1] and not _is_scheduler(step):
                place = _wrong_round(backward, step, context, range(_ROUNDS))
                if place is None and _ends_by_itself(leaps) and _asks_for_length(step, backward.loops[-1]):
                    place = _wrong_round(backward, step, context, range(_MANY - _ROUNDS, _MANY))
            elif step.loops == backward.loops[:-1] and _comes_behind(step, backward, execution):
                kept = _kept(context, _MANY - 1) if _ends_by_itself(leaps) else None
                place = kept[1] if kept is not None and kept[0] and comes_in_round(backward, _MANY - 1) else None
            if place is not None:
                yield backward, step, place
                break


def _are_parted(backward: Event, step: Event) -> bool:
    """Whether a flag lets one of two events come, and not the other."""
    ways = {id(one.node): one.taken for one in backward.guards if not counts(one.test)}
    return any(ways.get(id(one.node), one.taken) is not one.taken for one in step.guards)


def _ends_by_itself(leaps: Sequence[Event]) -> bool:
    """Whether a loop surely goes on to its last batch: no `break` comes in any round, as far as is known."""
    return not any(comes_in_round(one, number) is not False for one in leaps for number in range(_MANY))


def _asks_for_length(step: Event, loop: OpenLoop) -> bool:
    """Whether a step is under a test of how long its loop is: it comes in the last round, too."""
    loader = loader_of(loop.over)
    return any(
        isinstance(one, Made) and one.name == "len" and loader is not None and loader_of(one.args[0]) is loader
        for guard in step.guards
        for one in sources(guard.test)
    )


def _comes_behind(step: Event, backward: Event, execution: Execution) -> bool:
    """Whether an optimizer steps behind the loop, of what is left over: under a test of how many batches there are."""
    under = [one for one in step.guards if one not in backward.guards]
    told = [_computed(one.test, _MANY - 1) for one in under]
    behind = execution.events.index(step) > execution.events.index(backward)
    return bool(told) and behind and not _is_scheduler(step) and all(
        one is not None and bool(one) is guard.taken for one, guard in zip(told, under, strict=True)
    )  # fmt: skip


def _wrong_round(backward: Event, step: Event, context: Value, rounds: range) -> ast.AST | None:
    """Returns the test of no_sync that is true in a round of a step."""
    counted = 0
    for number in rounds:
        stepped = comes_in_round(step, number)
        passed = comes_in_round(backward, number)
        kept = _kept(context, number)
        if stepped is None or passed is None or kept is None:
            return None
        counted += stepped
        if stepped and passed and kept[0] and counted:
            return kept[1]
    return None


def _is_no_sync(value: Value) -> bool:
    return isinstance(value, OneOf) and any(isinstance(one, Made) and one.name == ".no_sync" for one in value.options)


def _is_scheduler(step: Event) -> bool:
    return isinstance(step.owner, Made) and step.owner.name.startswith("torch.optim.lr_scheduler.")


def _kept(context: Value, number: int) -> tuple[bool, ast.AST] | None:
    """Returns whether a round is under no_sync, and by which test.

    Tests that do not go by the round are flags, `if not self.distributed`: set so that the others are come to.
    """
    if not isinstance(context, OneOf) or not context.conditions:
        return None
    for option, under in zip(context.options, context.conditions, strict=True):
        own = [one for one in under if counts(one[0])]
        kept = isinstance(option, Made) and option.name == ".no_sync"
        if not own and not kept and any(counts(test) for each in context.conditions for test, _, _ in each):
            continue  # without a group, say
        told = [_computed(test, number) for test, _, _ in own or under]
        if any(one is None for one in told):
            return None
        if under and all(bool(one) is taken for one, (_, taken, _) in zip(told, own or under, strict=True)):
            return kept, (own or under)[-1][2]
    return None


def comes_in_round(event: Event, number: int) -> bool | None:
    """Whether an event comes in a round, None where that is not known."""
    own = [one for one in event.guards if not one.handler and counts(one.test)]
    told = [_computed(one.test, number) for one in own]
    if any(one is None for one in told):
        return None
    return all(bool(one) is guard.taken for one, guard in zip(told, own, strict=True))


def counts(value: Value) -> bool:
    """Whether a test is on the counter of a loop."""
    if isinstance(value, Made):
        return value.name in ("count", "counter") or any(counts(one) for one in value.args)
    return False


def _computed(value: Value, number: int, depth: int = 12) -> Any:
    """Returns a test in a round of the loop; None where something else than the round and how many decides it."""
    if isinstance(value, Const):
        return value.value if isinstance(value.value, (int, float, bool)) else None
    if not isinstance(value, Made) or not depth:
        return None
    if value.name == "counter" and len(value.args) > 1:
        return None  # it begins anew somewhere: where in its round a test asks is not known
    if value.name in ("count", "counter"):
        start = value.owner.argument(1, "start") if isinstance(value.owner, Made) else None
        return number + (start.value if isinstance(start, Const) and isinstance(start.value, int) else 0)
    if value.name in _NUMBERS:
        return _NUMBERS[value.name]
    if value.name == "not":
        inner = _computed(value.args[0], number, depth - 1)
        return None if inner is None else not inner
    if value.name in ("and", "or"):
        told = [_computed(one, number, depth - 1) for one in value.args]
        own = [counts(one) for one in value.args]
        if any(own):  # what else is not known is a flag, set so that the round decides
            told = [one for one, is_own in zip(told, own, strict=True) if is_own or one is not None]
        if any(one is None for one in told):
            return None
        return all(told) if value.name == "and" else any(told)
    if value.name in _OPERATORS and len(value.args) == 2:
        left, right = (_computed(one, number, depth - 1) for one in value.args)
        if left is None or right is None or (value.name in ("%", "//") and not right):
            return None
        return _OPERATORS[value.name](left, right)
    return _EVERY if value.name.startswith(".") or value.name in ("argument", "int") else None

"""Schedules that are as long as there are epochs, and are moved on with every batch. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.static.executed.training import loader_of
from diagnostics.static.execution.events import Event, Execution, Guard, OpenLoop
from diagnostics.static.execution.values import Const, Items, Made, Name, Procedure, Scope, Value, same, sources, usual
from diagnostics.static.program.ast_walk import walk

_SCHEDULES = "torch.optim.lr_scheduler."
_LENGTHS = {
    "CosineAnnealingLR": (1, "T_max"), "LinearLR": (3, "total_iters"), "PolynomialLR": (1, "total_iters"),
    "OneCycleLR": (2, "total_steps"),
}  # fmt: skip
_FACTORS = ("LambdaLR", "MultiplicativeLR")
_OF_ROUND = frozenset(["item", "count", "counter", "carried"])  # what differs from batch to batch
_ENDS = (ast.Break, ast.Return, ast.Raise)
_ROUNDS = 4


def epoch_schedules_stepped_by_batch(execution: Execution) -> Iterator[tuple[Event, Made, OpenLoop]]:
    """Yields (step, scheduler, loop over the epochs) where its length is their number, and each batch steps it."""
    makers = {id(one.value): one for one in execution.events if one.name.startswith(_SCHEDULES)}
    for one in execution.named(".step") if makers else ():
        made = makers.get(id(one.owner))
        if made is None or not isinstance(one.owner, Made) or one.args or one.keywords:
            continue  # a step that is told the epoch counts in epochs
        if not all(_lets_each_batch_in(guard, made) for guard in one.guards):
            continue
        for at, loop in enumerate(one.loops):
            inner = any(loader_of(each.over) is not None for each in one.loops[at + 1 :])
            epochs = _end(loop)
            if inner and epochs is not None and _is_as_long(one.owner, epochs):
                yield one, one.owner, loop
                break


def _end(loop: OpenLoop) -> Value | None:
    """Returns the number that a loop counts to; of 1 or 2 nobody can tell what else they are the number of."""
    over = loop.over
    if not isinstance(over, Made) or over.name.rpartition(".")[2] not in ("range", "trange") or not over.args:
        return None
    end = over.args[min(1, len(over.args) - 1)]
    return None if isinstance(end, Const) and end.value in (1, 2) else end


def _is_as_long(scheduler: Made, epochs: Value) -> bool:
    kind = scheduler.name.removeprefix(_SCHEDULES)
    if kind in _LENGTHS:
        length = scheduler.argument(*_LENGTHS[kind])
        return length is not None and same(length, epochs)
    factor = scheduler.argument(1, "lr_lambda") if kind in _FACTORS else None
    return isinstance(factor, Procedure) and _counts_to(factor, epochs)


def _counts_to(factor: Procedure, epochs: Value) -> bool:
    """Whether a factor goes by its step and the number of epochs, and by no other number that it may be counted in."""
    syntax = factor.function.syntax
    own = {*factor.function.parameters, *factor.function.assigned}
    if isinstance(syntax, ast.Module) or not factor.function.parameters:
        return False
    asked = False
    for node in walk(syntax):
        if isinstance(node, ast.Attribute) and not _is_of_library(node, factor.scope):
            return False
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in own:
            told = _follows(node.id, factor.scope, factor.function.outer, epochs, _ROUNDS)
            if told is None:
                return False
            asked = asked or told
    return asked


def _follows(name: str, scope: Scope | None, outer: object, epochs: Value, rounds: int) -> bool | None:
    """Returns whether a name around a factor is made of the number of epochs; None where of something else."""
    held = _held(name, scope)
    if held is None:
        written = getattr(outer, "assigned", {}).get(name, ())
        if len(written) != 1 or not rounds:
            return None if written else False  # a builtin says nothing
        told = [_follows(node.id, scope, outer, epochs, rounds - 1) for node in walk(written[0])
                if isinstance(node, ast.Name)]  # fmt: skip
        return None if None in told else True in told
    if isinstance(usual(held), Const) or isinstance(held, (Name, Procedure)):
        return same(held, epochs)
    parts = [one for one in sources(held) if not isinstance(one, Const)]
    if any(isinstance(one, Made) and one.name == "len" for one in parts):
        return None
    return True if any(same(one, epochs) for one in parts) else None


def _held(name: str, scope: Scope | None) -> Value | None:
    while scope is not None:
        if name in scope.fields:
            return scope.fields[name]
        scope = scope.outer
    return None


def _is_of_library(node: ast.Attribute, scope: Scope | None) -> bool:
    base = node.value
    return isinstance(base, ast.Name) and isinstance(_held(base.id, scope), Name)


def _lets_each_batch_in(guard: Guard, made: Event) -> bool:
    """Whether a test lets every batch in that the loop is not left before, where the scheduler is this one."""
    if guard.handler:
        return False
    if any(isinstance(one, Made) and one.name in _OF_ROUND for one in sources(guard.test)):
        body = guard.node.body if isinstance(guard.node, ast.If) else []
        return not guard.taken and bool(body) and isinstance(body[-1], _ENDS)
    told = _told_by_kind(guard.test, made)
    for known in made.guards if told is None else ():
        told = _told_by(guard.test, known) if told is None else told
    return not made.guards if told is None else told is guard.taken


def _told_by_kind(test: Value, made: Event) -> bool | None:
    """Returns how `isinstance(scheduler, OneCycleLR)` falls for the one that was made."""
    if not isinstance(test, Made) or test.name != "isinstance" or len(test.args) != 2:
        return None
    asked = test.args[1]
    kinds = asked.items if isinstance(asked, Items) else (asked,)
    return any(isinstance(one, Name) and one.name == made.name for one in kinds)


def _told_by(test: Value, known: Guard) -> bool | None:
    """Returns how a test falls where another one fell as it did: `name in ("a", "b")` where `name == "a"` held."""
    if not isinstance(test, Made) or not isinstance(known.test, Made):
        return None
    if same(test, known.test):
        return known.taken
    if test.name == "not" and len(test.args) == 1:
        inner = _told_by(test.args[0], known)
        return None if inner is None else not inner
    if known.test.name != "==" or not known.taken or len(known.test.args) != 2 or len(test.args) != 2:
        return None
    held, value = known.test.args[0], known.test.args[1]
    if not isinstance(value, Const) or not same(test.args[0], held):
        return None
    asked = test.args[1]
    if test.name in ("==", "!=") and isinstance(asked, Const):
        return (asked.value == value.value) is (test.name == "==")
    if test.name in ("in", "not in") and isinstance(asked, Items) and not asked.open:
        among = any(isinstance(one, Const) and one.value == value.value for one in asked.items)
        return among is (test.name == "in")
    return None

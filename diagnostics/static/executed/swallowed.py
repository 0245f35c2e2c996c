"""An exception in a step that ranks take together is caught, and the rank goes on with the next one. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.static.executed.own_data import OwnData
from diagnostics.static.executed.training import is_distributed, meets, operation
from diagnostics.static.execution.events import Event, Execution, TriedBlock
from diagnostics.static.execution.values import Instance
from diagnostics.static.program.exit_calls import LEAVING
from diagnostics.static.program.functions import last_name

_BROAD = frozenset(
    ["Exception", "BaseException", "RuntimeError", "OutOfMemoryError", "ValueError", "MemoryError", "AcceleratorError"]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Swallowed:
    """`handler` of `attempt` goes on after an exception that skips `met`."""

    handler: ast.ExceptHandler
    attempt: TriedBlock
    met: Event


def swallowed(execution: Execution) -> Iterator[Swallowed]:
    """Yields each handler once, of errors that come on one rank: of memory, or by the samples that the rank has."""
    if not is_distributed(execution):
        return
    told: set[int] = set()
    for one in execution.events:
        for attempt in one.tries:
            if id(attempt.node) in told or not attempt.loops or not meets(one):
                continue
            handler = next((each for each in attempt.node.handlers if _is_broad(each)), None)
            if handler is None or _leaves(handler.body) or _leaves(attempt.node.finalbody):
                continue
            told.add(id(attempt.node))
            alone = _of_memory(handler) or _raised_by_own_data(execution, attempt)
            if alone and not _agrees(execution, attempt):
                yield Swallowed(handler=handler, attempt=attempt, met=one)
    yield from _rounds_given_up(execution, told)


def _rounds_given_up(execution: Execution, told: set[int]) -> Iterator[Swallowed]:
    """Yields the handlers that give up a round of a loop, of errors by the rank's own samples: the others go on in it.

    What is skipped stands behind the attempt: `except NothingToLearn: continue`, and further down the backward pass.
    """
    raised = [one for one in execution.named("raise") if one.guards and one.tries and not one.is_handled]
    own = OwnData(execution) if raised else None
    for one in raised:
        attempt = next((each for each in reversed(one.tries) if _catching(each, one) is not None), None)
        handler = _catching(attempt, one) if attempt is not None else None
        if own is None or attempt is None or handler is None or not attempt.loops or id(attempt.node) in told:
            continue
        if not isinstance(handler.body[-1], ast.Continue) or own.of(one.guards[-1].test, sizes=True) is None:
            continue
        at = execution.events.index(one)
        met = next((each for each in execution.events[at:] if _is_behind(each, attempt)), None)
        if met is not None and not _agrees(execution, attempt):
            told.add(id(attempt.node))
            yield Swallowed(handler=handler, attempt=attempt, met=met)


def _is_behind(event: Event, attempt: TriedBlock) -> bool:
    """Whether ranks meet in an event of the same round, outside of the attempt."""
    inside = any(one.node is attempt.node for one in event.tries)
    return meets(event) and not inside and any(one is attempt.loops[-1] for one in event.loops)


def _catching(attempt: TriedBlock, raised: Event) -> ast.ExceptHandler | None:
    """Returns the handler of an attempt that an error comes to, None where that is not seen."""
    given = raised.node.exc if isinstance(raised.node, ast.Raise) else None
    kinds = _with_bases(last_name(given.func if isinstance(given, ast.Call) else given), raised) if given else set()
    for handler in attempt.node.handlers:
        caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        if any(one is None or last_name(one) in kinds for one in caught):
            return handler
    return None


def _with_bases(name: str, raised: Event, rounds: int = 4) -> set[str]:
    """Returns an exception's class and those above it, as far as the file in which it is raised has them."""
    tree = raised.function.source.tree
    defined = [one for one in ast.walk(tree) if isinstance(one, ast.ClassDef) and one.name == name] if tree else []
    above = [_with_bases(last_name(base), raised, rounds - 1) for one in defined for base in one.bases if rounds]
    return {name, "Exception", "BaseException"}.union(*above)


def swallowed_on_leaving(execution: Execution) -> Iterator[tuple[ast.Return, Instance, Event]]:
    """Yields (what `__exit__` gives back, its object, operation) where that says that an error of memory never was."""
    told: set[int] = set()
    for one in execution.events if is_distributed(execution) else ():
        for context in one.contexts if one.loops and meets(one) else ():
            if not isinstance(context, Instance) or id(context.kind.kind) in told:
                continue
            end = next((each for each in context.kind.kind.body if getattr(each, "name", "") == "__exit__"), None)
            given = _swallows(end) if isinstance(end, ast.FunctionDef) and _of_memory(end) else None
            if given is not None and not _met_outside(context, one, execution):
                told.add(id(context.kind.kind))
                yield given, context, one


def _swallows(end: ast.FunctionDef) -> ast.Return | None:
    """Returns the last return of `__exit__` that may give something true."""
    found = [one for one in ast.walk(end) if isinstance(one, ast.Return) and one.value is not None]
    true = [one for one in found if not (isinstance(one.value, ast.Constant) and not one.value.value)]
    return max(true, key=lambda one: one.lineno, default=None)


def _met_outside(context: Instance, met: Event, execution: Execution) -> bool:
    """Whether ranks may tell each other in the same round, outside of the block."""
    return any(
        operation(one)
        and any(loop is met.loops[-1] for loop in one.loops)
        and not any(each is context for each in one.contexts)
        for one in execution.events
    )


def _of_memory(handler: ast.ExceptHandler | ast.FunctionDef) -> bool:
    told = ast.unparse(handler).lower()
    return any(one in told for one in ("outofmemory", "out of memory", "memoryerror"))


def _raised_by_own_data(execution: Execution, attempt: TriedBlock) -> bool:
    """Whether an error of the block comes by what this rank's samples are: others do not have it in the same round."""
    raised = [
        one
        for one in execution.named("raise")
        if one.guards and not one.is_handled and any(each.node is attempt.node for each in one.tries)
    ]
    own = OwnData(execution) if raised else None
    return own is not None and any(own.of(one.guards[-1].test, sizes=True) is not None for one in raised)


def _is_broad(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(one is None or last_name(one) in _BROAD for one in kinds)


def _leaves(body: list[ast.stmt]) -> bool:
    """Whether statements always end in an exception, the end of the loop or of the process."""
    for one in body:
        if isinstance(one, (ast.Raise, ast.Break)):
            return True
        if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call) and ast.unparse(one.value.func) in LEAVING:
            return True
        if isinstance(one, ast.If) and _leaves(one.body) and _leaves(one.orelse):
            return True
    return False


def _agrees(execution: Execution, attempt: TriedBlock) -> bool:
    """Whether ranks may tell each other in the same round, outside of the attempt."""
    around = attempt.loops[-1]
    return any(
        operation(one) and any(loop is around for loop in one.loops)
        and not any(each.node is attempt.node for each in one.tries)
        for one in execution.events
    )  # fmt: skip

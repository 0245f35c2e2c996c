"""Whether a deadlocked rank gets out again by a timeout that the job itself set and catches. Pure."""

from __future__ import annotations

import ast

from diagnostics.agent.shared import operations
from diagnostics.core.frame import Frame
from diagnostics.dynamic.collectives.rank_state import OperationKind, PendingOperation
from diagnostics.dynamic.collectives.wait_for_graph import DEFAULT_GROUP, Deadlock
from diagnostics.dynamic.job.job import Job
from diagnostics.record.agent_data import GROUP_MADE
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.call_graph import CallGraph, Function
from diagnostics.static.program.exception_flow import goes_on_raising, spans

LONG_S = 300.0  # who waits longer than that hangs, whatever comes after
# Calls with a timeout of their own that no record tells; "monitored_barrier" is made to find out who is late.
_OWN_TIMEOUT = operations.MONITORED
_RAISED = frozenset(
    (
        "BaseException",
        "Exception",
        "RuntimeError",
        "DistError",
        "DistBackendError",
        "DistNetworkError",
        "DistStoreError",
    )
)


def may_time_out(job: Job, deadlock: Deadlock) -> bool:
    """Returns whether a rank of the deadlock waits with a short or unknown timeout inside a handler that goes on."""
    return any(
        _is_short(job, one.rank, wait) and _is_caught(job, wait) for one in deadlock.positions for wait in one.waits
    )


def _is_short(job: Job, rank: int, wait: PendingOperation) -> bool:
    if wait.op in _OWN_TIMEOUT or wait.kind is OperationKind.STORE:
        return True
    seconds = wait.timeout_s
    if seconds is None and wait.group in DEFAULT_GROUP:
        seconds = _timeout_of_group(job, rank)
    return seconds is None or seconds <= LONG_S


def _timeout_of_group(job: Job, rank: int) -> float | None:
    """Returns the timeout that the default group was made with."""
    process = job.of_rank(rank)
    event = process.agent.last_event(GROUP_MADE) if process is not None and process.agent is not None else None
    words = dict(word.partition("=")[::2] for word in event.text.split()) if event is not None else {}
    try:
        return float(words["timeout_s"])
    except (KeyError, ValueError):
        return None


def _is_caught(job: Job, wait: PendingOperation) -> bool:
    """Whether a handler around one of the lines on the way to the call takes the exception and goes on."""
    if not wait.path:
        return not wait.native
    trees = ((job.sources.file(frame.file).tree, frame.line) for frame in wait.path)
    if any(_goes_on(node, line) for tree, line in trees if tree is not None for node in walk(tree)):
        return True
    program = CallGraph(job.sources, tuple(dict.fromkeys(frame.file for frame in wait.path)))
    return any(_is_swallowed(program, frame) for frame in wait.path)


def _goes_on(node: ast.AST, line: int) -> bool:
    if not isinstance(node, ast.Try):
        return False
    inside = any(spans(statement, line) for statement in node.body)
    return inside and any(_takes(handler.type) for handler in node.handlers) and not goes_on_raising(node)


def _is_swallowed(program: CallGraph, frame: Frame) -> bool:
    """Whether a `with` around the line takes exceptions: suppress(RuntimeError), or a manager of the project's own."""
    function = program.function_of(frame)
    around = [node for node in (function.own_nodes if function is not None else ()) if spans(node, frame.line)]
    items = [item for node in around if isinstance(node, (ast.With, ast.AsyncWith)) for item in node.items]
    return function is not None and any(_swallows(program, item.context_expr, function) for item in items)


def _swallows(program: CallGraph, context: ast.expr, function: Function) -> bool:
    if isinstance(context, ast.Call) and _name(context.func) == "suppress":
        return any(map(_takes, context.args))
    return program.suppresses(context, function)


def _takes(kind: ast.expr | None) -> bool:
    """Whether `except kind` takes what a collective raises when its time is over."""
    if isinstance(kind, ast.Tuple):
        return any(map(_takes, kind.elts))
    return kind is None or _name(kind) in _RAISED


def _name(expression: ast.expr) -> str:
    if isinstance(expression, ast.Attribute):
        return expression.attr
    return expression.id if isinstance(expression, ast.Name) else ""

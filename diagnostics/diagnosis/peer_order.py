"""The test that was to let one side of each pair send first, where all ranks went the same way at it. Pure."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnostics.agent.shared import operations
from diagnostics.core.frame import Frame
from diagnostics.dynamic.collectives.rank_state import OperationKind
from diagnostics.dynamic.collectives.wait_for_graph import Deadlock, DeadlockKind
from diagnostics.dynamic.divergence.rank_partition import user_stack
from diagnostics.dynamic.job.job import Job
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.exception_flow import spans

_HALVES = {OperationKind.SEND: operations.SENDS, OperationKind.RECV: operations.RECEIVES}


def order_test(job: Job, deadlock: Deadlock) -> Frame | None:
    """Returns the `if` whose arms begin with either half, and of which all ranks took one arm; None for no such."""
    waits = [one.waits[0] for one in deadlock.positions]
    stands = {frame for one in deadlock.positions for frame in user_stack(job, one)[:1]}
    if deadlock.knot is not DeadlockKind.PEERS or len({wait.kind for wait in waits}) > 1 or len(stands) != 1:
        return None
    (at,) = stands
    source = job.sources.file(at.file)
    around = source.function_at(at.line) or source.tree
    tests = [node for node in walk(around) if isinstance(node, ast.If)] if around is not None else []
    for test in sorted(tests, key=lambda node: -node.lineno):
        for own, other in ((test.body, test.orelse), (test.orelse, test.body)):
            here = any(spans(statement, at.line) for statement in own)
            if here and _first(own) is waits[0].kind and _first(other) is _half(waits[0].kind):
                return Frame(file=at.file, line=test.lineno, function=at.function)
    return None


def _half(kind: OperationKind) -> OperationKind:
    return OperationKind.RECV if kind is OperationKind.SEND else OperationKind.SEND


def _first(arm: Sequence[ast.stmt]) -> OperationKind | None:
    """Returns which half the first message of some statements is."""
    for statement in arm:
        calls = [node for node in walk(statement) if isinstance(node, ast.Call)]
        for call in sorted(calls, key=lambda node: (node.lineno, node.col_offset)):
            name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            for kind, names in _HALVES.items():
                if name in names:
                    return kind
    return None

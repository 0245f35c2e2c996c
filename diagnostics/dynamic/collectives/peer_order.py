"""The test that was to let one side of each pair send first, where all ranks went the same way at it. Pure."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnostics.agent.shared import operations
from diagnostics.core.frame import Frame
from diagnostics.dynamic.collectives.rank_state import OperationKind
from diagnostics.dynamic.job.job import Job
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.exception_flow import spans

_HALVES = {OperationKind.SEND: operations.SENDS, OperationKind.RECV: operations.RECEIVES}


def order_test(job: Job, kind: OperationKind, at: Frame) -> Frame | None:
    """Returns the `if` whose arms begin with either half, one of them around the half at a line; None for no such."""
    source = job.sources.file(at.file)
    around = source.function_at(at.line) or source.tree
    tests = [node for node in walk(around) if isinstance(node, ast.If)] if around is not None else []
    for test in sorted(tests, key=lambda node: -node.lineno):
        for own, other in ((test.body, test.orelse), (test.orelse, test.body)):
            here = any(spans(statement, at.line) for statement in own)
            if here and _first(own) is kind and _first(other) is _half(kind):
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

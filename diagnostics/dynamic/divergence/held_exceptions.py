"""Exceptions that are on their way out of a rank that waits: in a `finally`, the exit of a `with`, at exit. Pure.

Nobody sees such an exception while the wait lasts. It is the beginning of what went wrong, and the wait a consequence.
A handler (`except`) is another matter: there the program has decided to go on.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnostics.core.frame import Frame
from diagnostics.dynamic.collectives.rank_state import RankState, Whereabouts
from diagnostics.dynamic.job.job import ExceptionRecord, ExceptionSource, Job
from diagnostics.record.torch_messages import is_lost_peer
from diagnostics.static.program.source_file import SourceFile

MOST_OF_A_MESSAGE = 160
_CLOCKS_S = 0.05  # between the times of one process that are told by two of its areas


def held_by(case: Job, one: RankState) -> ExceptionRecord | None:
    """Returns the exception that a waiting rank has raised and not yet let out, None where there is none."""
    story = case.of_rank(one.rank)
    wait = one.wait
    if story is None or wait is None or one.stand is not Whereabouts.WAITING:
        return None
    for raised in reversed(story.raised):
        if raised.at_s > wait.since_s + _CLOCKS_S or not raised.user_path or is_lost_peer(raised.text):
            continue
        if raised.how is ExceptionSource.UNCAUGHT:
            return raised
        if raised.how is ExceptionSource.HELD and _on_its_way(case, raised.path, wait.path or one.stack):
            return raised
    return None


def _on_its_way(case: Job, raised: Sequence[Frame], waits: Sequence[Frame]) -> bool:
    """Whether the wait stands in a `finally` or the exit of a `with` of a block through which the exception came."""
    places = {(frame.file, frame.function): frame.line for frame in waits}
    return any(
        (line := places.get((frame.file, frame.function))) is not None
        and _leaves(case.sources.file(frame.file), frame.line, line)
        for frame in raised
    )


def _leaves(source: SourceFile, raised: int, waits: int) -> bool:
    for node in ast.walk(source.tree) if source.tree is not None else ():
        if isinstance(node, (ast.Try, ast.TryStar)):
            guarded: list[ast.AST] = [*node.body, *node.handlers, *node.orelse]
            if _spans(guarded, raised) and _spans(node.finalbody, waits):
                return True
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            head = node.lineno <= waits <= max((item.context_expr.end_lineno or 0) for item in node.items)
            if head and _spans(node.body, raised):
                return True
    return False


def _spans(block: Sequence[ast.AST], line: int) -> bool:
    return any(getattr(node, "lineno", 0) <= line <= (getattr(node, "end_lineno", None) or 0) for node in block)


def held_text(case: Job, raised: ExceptionRecord) -> str:
    """Returns "raised ValueError: no such row at data.py:12, of which nobody is told while it"."""
    said = " ".join(raised.text.split())
    said = said if len(said) <= MOST_OF_A_MESSAGE else f"{said[:MOST_OF_A_MESSAGE]}..."
    return f"raised {said} at {case.line(raised.user_path[0])}, of which nobody is told while it"

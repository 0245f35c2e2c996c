"""Whether code runs while an exception leaves a block: in its `finally`, or in the exit of its `with`. Pure."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnostics.core.frame import Frame
from diagnostics.static.program.source_file import SourceFile, SourceStore


def unwinds(sources: SourceStore, raised: Sequence[Frame], stands: Sequence[Frame]) -> bool:
    """Whether a stack stands in a `finally` or the exit of a `with` of a block that an exception has left.

    `raised` is the exception's path, `stands` the stack, both innermost first. A handler (`except`) is another matter:
    there the program has decided to go on.
    """
    return any(
        (frame.file, frame.function) == (stood.file, stood.function)
        and _leaves(sources.file(frame.file), frame.line, stood.line)
        for frame in raised
        for stood in stands
    )


def _leaves(source: SourceFile, raised: int, stands: int) -> bool:
    for node in ast.walk(source.tree) if source.tree is not None else ():
        if isinstance(node, (ast.Try, ast.TryStar)):
            guarded: list[ast.AST] = [*node.body, *node.handlers, *node.orelse]
            if _spans(guarded, raised) and _spans(node.finalbody, stands):
                return True
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            head = node.lineno <= stands <= max((item.context_expr.end_lineno or 0) for item in node.items)
            if head and _spans(node.body, raised):
                return True
    return False


def _spans(block: Sequence[ast.AST], line: int) -> bool:
    return any(getattr(node, "lineno", 0) <= line <= (getattr(node, "end_lineno", None) or 0) for node in block)

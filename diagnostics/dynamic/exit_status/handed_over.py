"""The calls by which a function was handed to a pool or a thread: submit(job, width), map(job, widths). Pure."""

from __future__ import annotations

import ast
from dataclasses import replace

from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.job import Job
from diagnostics.static.program.ast_walk import walk


def handing_over(job: Job, outermost: Frame) -> tuple[str, ...]:
    """Returns the lines of its own file at which a call takes the function with which a thread's stack begins."""
    tree, wanted = job.sources.file(outermost.file).tree, outermost.function.rpartition(".")[2]
    if tree is None or not wanted.isidentifier():
        return ()
    lines = [
        node.lineno
        for node in walk(tree)
        if isinstance(node, ast.Call)
        for given in (*node.args, *(one.value for one in node.keywords))
        if wanted == getattr(given, "id", getattr(given, "attr", ""))
    ]
    return tuple(dict.fromkeys(job.line(replace(outermost, line=line)) for line in sorted(lines)))

"""The calls by which a function was handed to a pool or a thread: submit(job, width), map(job, widths). Pure."""

from __future__ import annotations

import ast
from dataclasses import replace

from diagnostics.core.frame import Frame
from diagnostics.core.wording import distinct
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.job.job_sources import job_sources
from diagnostics.static.program.ast_walk import walk


def handing_over(job: Job, outermost: Frame, process: JobProcess | None = None) -> tuple[str, ...]:
    """Returns the lines at which a call takes the function with which the stack of a thread or a task begins.

    Those of its own file; where none does, those of the files that `process` ran.
    """
    own = _lines(job, outermost, outermost.file)
    others = () if own or process is None else [file for file, _ in job_sources(job, process)]
    return own or distinct([line for file in others for line in _lines(job, outermost, file)])


def _lines(job: Job, outermost: Frame, file: str) -> tuple[str, ...]:
    tree, wanted = job.sources.file(file).tree, outermost.function.rpartition(".")[2]
    if tree is None or not wanted.isidentifier():
        return ()
    lines = [
        node.lineno
        for node in walk(tree)
        if isinstance(node, ast.Call)
        for given in (*node.args, *(one.value for one in node.keywords))
        if wanted == getattr(given, "id", getattr(given, "attr", ""))
    ]
    return distinct([job.line(replace(outermost, file=file, line=line)) for line in sorted(lines)])

"""The project's own autograd function that an error of a backward pass names. Pure."""

from __future__ import annotations

import ast
import re

from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.job.job_sources import job_sources
from diagnostics.static.program.ast_walk import walk

# The engine calls the backward of a torch.autograd.Function from C++: no Python frame of the traceback is in it.
_NAMED = re.compile(r"\bFunction '?(\w{1,200})Backward'? returned\b")


def backward_in_error(job: Job, message: str) -> Frame | None:
    """Returns where the backward that a message complains about returns; None where it is none of the project's."""
    named = _NAMED.search(message)
    found = []
    for file, source in job_sources(job) if named else ():
        for node in walk(source.tree) if source.tree is not None else ():
            if named and isinstance(node, ast.ClassDef) and node.name == named[1]:
                found += [
                    (file, one) for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "backward"
                ]
    if len(found) != 1:
        return None
    file, backward = found[0]
    returns = [one.lineno for one in walk(backward) if isinstance(one, ast.Return)]
    return Frame(file=file, line=max(returns, default=backward.lineno), function="backward")

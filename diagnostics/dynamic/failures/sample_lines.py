"""Where the samples are made that torch could not put together into a batch. Pure.

Samples that do not fit each other are no fault of the collate function that meets them, nor of the loop that asked for
the batch: the data set gives them.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import takewhile

from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.static.program.ast_walk import walk

_COLLATE, _FETCH = "torch/utils/data/_utils/collate.py", "torch/utils/data/_utils/fetch.py"
_GIVES = (ast.Return, ast.Yield)


def sample_lines(job: Job, process: JobProcess, path: Sequence[Frame]) -> tuple[Frame, ...]:
    """Returns where the data set gives its samples, where torch alone put them together and could not; else none."""
    inside = list(takewhile(lambda frame: frame.file.endswith(_COLLATE), path))
    if not inside or not path[len(inside) :] or not path[len(inside)].file.endswith(_FETCH):
        return ()
    rank = next((one for one in job.ranks if process in job.children_of(one)), process)
    sources = rank.agent.sources if rank.agent is not None else ()
    begun = [(one.passes[-1].began_s, one.facts.get("getitem", "")) for one in sources if one.passes]
    file, _, line = max(begun, default=(0.0, ""))[1].rpartition(":")
    if not file or not line.isdecimal():
        return ()
    at = Frame(file=file, line=int(line[:9]), function="")
    function = job.sources.file(file).function_at(at.line)
    given = [one.lineno for one in walk(function) if isinstance(one, _GIVES)] if function is not None else []
    return tuple(Frame(file=file, line=one, function="") for one in given) if len(given) == 1 else (at,)

"""A path that each rank of a host makes, moves or takes away: who comes second finds it changed. Pure."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnostics.core.frame import Frame
from diagnostics.dynamic.failures.root_exception import RootException
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.model.model_classes import called_name
from diagnostics.static.dataflow import rank_words
from diagnostics.static.program.ast_walk import walk

_TAKES = {"rename", "renames", "replace", "move", "remove", "unlink", "rmtree", "rmdir", "removedirs"}
_MAKES = {"mkdir", "makedirs", "symlink", "link", "symlink_to", "hardlink_to", "copytree", "rename", "open"}
_ADVICE = {
    "FileNotFoundError": (
        _TAKES,
        "no test of the rank stands around {line}, so each rank of the host comes there, and the first one has moved "
        "or removed what the next one looks for: let one rank do it, with a barrier behind it, or give each rank a "
        "name of its own",
    ),
    "FileExistsError": (
        _MAKES,
        "no test of the rank stands around {line}, so each rank of the host comes there, and the first one has made "
        "it: let one rank make it, with a barrier behind it, or accept one that is there (exist_ok=True)",
    ),
}


def raced_advice(job: Job, found: RootException) -> str:
    """Returns what to do where ranks race for one path; "" where the failed line does not show that they do."""
    takes, words = _ADVICE.get(found.root_text.partition(":")[0].rpartition(".")[2], ((), ""))
    frame = found.frame
    if frame is None or not words or len(job.ranks) < 2:
        return ""
    statement = job.sources.file(frame.file).statement_at(frame.line)
    calls = [one for one in walk(statement) if isinstance(one, ast.Call)] if statement is not None else []
    mine = [one for one in calls if called_name(one) in takes]
    if not mine or any(rank_words.SHOWS_RANK.search(ast.unparse(one)) for one in mine):
        return ""
    return words.format(line=job.line(frame)) if _all_come(job, found.frames) else ""


def _all_come(job: Job, path: Sequence[Frame]) -> bool:
    """Whether no test around the lines of a call path reads the rank."""
    tests = [
        ast.unparse(one.test)
        for frame in path
        for one in job.sources.file(frame.file).all_statements
        if isinstance(one, (ast.If, ast.While)) and one.lineno <= frame.line <= (one.end_lineno or one.lineno)
    ]
    return not any(rank_words.SHOWS_RANK.search(test) for test in tests if "__name__" not in test)

"""What an object was to be pickled for, by the call in which it failed: other ranks, a file, a new process. Pure."""

from __future__ import annotations

import ast

from diagnostics.agent.shared.operations import TABLE
from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.model.model_classes import called_name
from diagnostics.static.program.ast_walk import walk

TO_RANKS = "send an object to other ranks"
_SENDS = {row.name for row in TABLE if row.pickled}
TO_FILE = "write an object"
_WRITES = {"save", "async_save", "dump", "dumps"}


def pickling_purpose(job: Job, frame: Frame | None) -> str:
    """Returns it as words behind "could not", given the line of the job in which it failed."""
    statement = job.sources.file(frame.file).statement_at(frame.line) if frame is not None else None
    called = {called_name(node) for node in walk(statement) if isinstance(node, ast.Call)} if statement else set()
    if called & _SENDS:
        return TO_RANKS
    return TO_FILE if called & _WRITES else "hand an object to a new process"

"""Collectives in finalizers: each rank frees its objects in its own time, and others need not be there. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from diagnostics.core.frame import Frame
from diagnostics.core.frames import is_installed, user_frames
from diagnostics.dynamic.collectives.rank_state import RankState
from diagnostics.dynamic.job.job import Job

_WEAKREF = re.compile(r"/weakref\.py$")


def finalizer_of(job: Job, one: RankState) -> Frame | None:
    """Returns the line of the job's own finalizer (`__del__`, weakref.finalize) in which a rank waits, else None."""
    process = job.of_rank(one.rank)
    at = _called_at(one.stack)
    own = user_frames(one.stack[:at], agent_folder=process.agent_folder if process is not None else "")
    return own[-1] if one.wait is not None and own and not is_installed(own[-1]) else None


def _called_at(stack: Sequence[Frame]) -> int:
    """Returns how many frames of a stack, innermost first, are of a finalizer; at the exit all of them run in order."""
    if any(_WEAKREF.search(frame.file) and frame.function.endswith("_exitfunc") for frame in stack):
        return 0
    for at, frame in enumerate(stack):
        if frame.function.rpartition(".")[2] == "__del__":
            return at + 1
        if _WEAKREF.search(frame.file) and frame.function.endswith("__call__"):
            return at
    return 0

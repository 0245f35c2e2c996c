"""Optimizers whose state was read back on some of the ranks only: equal gradients move equal weights apart. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.common_calls import last_common_call
from diagnostics.dynamic.job.job import JobProcess
from diagnostics.dynamic.replicas.replicas import Replicas
from diagnostics.dynamic.replicas.source_lines import own

RESTORED = "optimizer-restored"


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredOptimizers:
    """Who was given a saved state and who was not; the job's own lines, first the one the others did not come by."""

    given: tuple[int, ...]
    without: tuple[int, ...]
    path: tuple[Frame, ...]


def restored_optimizers(found: Replicas) -> RestoredOptimizers | None:
    """Returns which ranks went on with a saved state of their optimizer; None where all did, or nobody."""
    given = [one for one in found.processes if _restored(one)]
    without = [one for one in found.processes if one.agent is not None and one.agent.last_event(RESTORED) is None]
    if not given or not without:
        return None
    path = _restored(given[0])
    theirs = (own(one, event.path) for one in without if one.agent is not None for event in one.agent.events)
    first = last_common_call(path, theirs) or 0
    return RestoredOptimizers(
        given=tuple(one.rank for one in given if one.rank is not None),
        without=tuple(one.rank for one in without if one.rank is not None),
        path=(*path[first:], *reversed(path[:first])),
    )


def _restored(process: JobProcess) -> tuple[Frame, ...]:
    event = process.agent.last_event(RESTORED) if process.agent is not None else None
    return own(process, event.path) if event is not None else ()

"""Optimizers whose state was read back on some of the ranks only: equal gradients move equal weights apart. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from diagnostics.core.frame import Frame
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
    first = _last_common(path, [own(one, event.path) for one in without if one.agent for event in one.agent.events])
    return RestoredOptimizers(
        given=tuple(one.rank for one in given if one.rank is not None),
        without=tuple(one.rank for one in without if one.rank is not None),
        path=(*path[first:], *reversed(path[:first])),
    )


def _restored(process: JobProcess) -> tuple[Frame, ...]:
    event = process.agent.last_event(RESTORED) if process.agent is not None else None
    return own(process, event.path) if event is not None else ()


def _last_common(path: Sequence[Frame], others: Iterable[Sequence[Frame]]) -> int:
    """Returns which frame of a call path is in the innermost call of a function that the others made, too."""
    seen = {(one.file, one.function, tuple(other[at + 1 :])) for other in others for at, one in enumerate(other)}
    common = (at for at, one in enumerate(path) if (one.file, one.function, tuple(path[at + 1 :])) in seen)
    return next(common, 0)

"""Where each rank of a job that stands still is: in a wait for its peers, outside, or on its way out. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.dynamic.collectives.rank_state import Whereabouts
from diagnostics.dynamic.job import stack_classifier
from diagnostics.dynamic.job.attribution import is_in_collective
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.job.observations import observations_of
from diagnostics.dynamic.stall.wait_cause import WaitCause
from diagnostics.dynamic.stall.wait_chain import stack_of, wait_chain

_LEAVES = re.compile(r"(?:^|\.)(?:_shutdown|_exit_function|_python_exit|_run_exitfuncs|finalize\._exitfunc)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class RankPosition:
    """One rank. `reason` is that of one outside; `own` its frames in the job's own files, innermost first."""

    process: JobProcess
    stand: Whereabouts
    stack: tuple[Frame, ...] = ()
    own: tuple[Frame, ...] = ()
    reason: WaitCause | None = None


def rank_positions(job: Job) -> tuple[RankPosition, ...]:
    """Returns where the last process of each rank stood when the job was looked at last."""
    return tuple(_standing(job, process) for process in job.ranks)


def _standing(job: Job, process: JobProcess) -> RankPosition:
    stack = stack_of(job, process)
    own = user_frames(stack, agent_folder=process.agent_folder)
    stand = _stand(job, process, stack, own)
    reason = wait_chain(job, process, stack) if stand is Whereabouts.OUTSIDE else None
    return RankPosition(process=process, stand=stand, stack=stack, own=own, reason=reason)


def _stand(job: Job, process: JobProcess, stack: Sequence[Frame], own: Sequence[Frame]) -> Whereabouts:
    if process.ended_by == "" and (process.end.exit_code is not None or process.end.signal is not None):
        return Whereabouts.ENDED
    return activity_of(job, process, stack, own)


def activity_of(job: Job, process: JobProcess, stack: Sequence[Frame], own: Sequence[Frame]) -> Whereabouts:
    """Returns what a rank did when its stack was taken, however it ended later."""
    looks = observations_of(job, process)
    if not stack:
        if looks.stopped:
            return Whereabouts.OUTSIDE
        return Whereabouts.WAITING if is_in_collective(process) else Whereabouts.UNKNOWN
    if any(_LEAVES.search(frame.function) for frame in stack):
        return Whereabouts.LEAVING
    inner = tuple(stack[: stack.index(own[0])] if own else stack)
    if any(stack_classifier.EXCHANGES.search(frame.file) for frame in inner) or _is_in_its_last_call(process, own):
        return Whereabouts.OUTSIDE if looks.stopped else Whereabouts.WAITING
    if any(stack_classifier.WAITS_OR_COMPUTES.search(frame.file) for frame in inner) and not looks.computes:
        return Whereabouts.OUTSIDE if looks.stopped else Whereabouts.WAITING
    return Whereabouts.OUTSIDE


def _is_in_its_last_call(process: JobProcess, own: Sequence[Frame]) -> bool:
    """Whether the line it stands at is the one that made a call of torch.distributed which has not returned."""
    if not is_in_collective(process) or process.agent is None or not own:
        return False
    path = user_frames(process.agent.collectives[-1].path, agent_folder=process.agent.agent_folder)
    return bool(path) and path[0] == own[0]

"""Where each rank of a job that stands still is: in a wait for its peers, outside, or on its way out. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.dynamic.collectives.rank_state import Whereabouts
from diagnostics.dynamic.job import stack_classifier
from diagnostics.dynamic.job.attribution import waits_in_a_collective
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.job.observations import looks_of
from diagnostics.dynamic.stall.wait_cause import WaitCause
from diagnostics.dynamic.stall.wait_chain import reason_of, stack_of

_LEAVES = re.compile(r"(?:^|\.)(?:_shutdown|_exit_function|_python_exit|_run_exitfuncs|finalize\._exitfunc)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class RankPosition:
    """One rank. `reason` is that of one outside; `own` its frames in the job's own files, innermost first."""

    story: JobProcess
    stand: Whereabouts
    stack: tuple[Frame, ...] = ()
    own: tuple[Frame, ...] = ()
    reason: WaitCause | None = None


def standings(case: Job) -> tuple[RankPosition, ...]:
    """Returns where the last process of each rank stood when the job was looked at last."""
    return tuple(_standing(case, story) for story in case.ranks)


def _standing(case: Job, story: JobProcess) -> RankPosition:
    stack = stack_of(case, story)
    own = user_frames(stack, agent_folder=story.agent_folder)
    stand = _stand(case, story, stack, own)
    reason = reason_of(case, story, stack) if stand is Whereabouts.OUTSIDE else None
    return RankPosition(story=story, stand=stand, stack=stack, own=own, reason=reason)


def _stand(case: Job, story: JobProcess, stack: Sequence[Frame], own: Sequence[Frame]) -> Whereabouts:
    if story.ended_by == "" and (story.end.exit_code is not None or story.end.signal is not None):
        return Whereabouts.ENDED
    return stand_of(case, story, stack, own)


def stand_of(case: Job, story: JobProcess, stack: Sequence[Frame], own: Sequence[Frame]) -> Whereabouts:
    """Returns what a rank did when its stack was taken, however it ended later."""
    looks = looks_of(case, story)
    if not stack:
        if looks.stopped:
            return Whereabouts.OUTSIDE
        return Whereabouts.WAITING if waits_in_a_collective(story) else Whereabouts.UNKNOWN
    if any(_LEAVES.search(frame.function) for frame in stack):
        return Whereabouts.LEAVING
    inner = tuple(stack[: stack.index(own[0])] if own else stack)
    if any(stack_classifier.EXCHANGES.search(frame.file) for frame in inner) or _is_in_its_last_call(story, own):
        return Whereabouts.OUTSIDE if looks.stopped else Whereabouts.WAITING
    if any(stack_classifier.WAITS_OR_COMPUTES.search(frame.file) for frame in inner) and not looks.computes:
        return Whereabouts.OUTSIDE if looks.stopped else Whereabouts.WAITING
    return Whereabouts.OUTSIDE


def _is_in_its_last_call(story: JobProcess, own: Sequence[Frame]) -> bool:
    """Whether the line it stands at is the one that made a call of torch.distributed which has not returned."""
    if not waits_in_a_collective(story) or story.agent is None or not own:
        return False
    path = user_frames(story.agent.collectives[-1].path, agent_folder=story.agent.agent_folder)
    return bool(path) and path[0] == own[0]

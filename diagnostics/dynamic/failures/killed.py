"""Processes that a signal from elsewhere ended, and where they stood. Pure."""

from __future__ import annotations

import signal

from diagnostics.core.frames import user_frames
from diagnostics.core.wording import distinct
from diagnostics.dynamic.job.evidence import ended_s, interrupted_s
from diagnostics.dynamic.job.job import Case, Part, ProcessStory

ENDED_BY_OTHERS = ("doctor", "launcher")


def killed_silently(case: Case) -> tuple[ProcessStory, ...]:
    """Returns the processes that died of a SIGKILL that nobody in the job is known to have sent.

    A launcher that found a rank killed kills the others: those that it is known to have ended are not among them.
    """
    sent = {one.target_pid for one in case.sent if one.signal == signal.SIGKILL}
    stopped_s = interrupted_s(case)
    found = [
        one
        for one in case.processes
        if one.end.signal == signal.SIGKILL
        and one.ended_by in ("", "unknown")
        and one.pid not in sent
        and one.part is not Part.SHELL
        and ended_s(one) < stopped_s
    ]
    ranks = [one for one in found if one.part in (Part.RANK, Part.DATA_WORKER)]
    return tuple(ranks or found)


def stood_at(case: Case, story: ProcessStory) -> tuple[str, ...]:
    """Returns the user's lines at which a process was last seen; () where nothing tells."""
    lines = [case.line(story.death.frame)] if story.death is not None and story.death.frame is not None else []
    folder = story.agent.agent_folder if story.agent is not None else ""
    for stack in story.stacks[:1]:
        lines += [case.line(frame) for frame in user_frames(stack, agent_folder=folder)[:2]]
    return distinct(lines)

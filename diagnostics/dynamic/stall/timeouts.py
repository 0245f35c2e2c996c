"""Ranks that gave up waiting when a timeout fired, and the ranks that were not there at that moment. Pure.

A rank is late where it was alive when the first timeout fired, and in no collective. What it did instead is read from
a look at it before it came; where it came too late for a look, its next call tells what it came to.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.dynamic.collectives.rank_state import Whereabouts
from diagnostics.dynamic.job.evidence import ended_s
from diagnostics.dynamic.job.job import ExceptionSource, Job, JobProcess
from diagnostics.dynamic.job.observations import observations_of
from diagnostics.dynamic.job.process_list import job_time
from diagnostics.dynamic.stall.rank_activity import activity_of
from diagnostics.dynamic.stall.wait_cause import WaitCause
from diagnostics.dynamic.stall.wait_chain import stack_of, wait_chain
from diagnostics.record.agent_data import GROUP_MADE, CollectiveCall
from diagnostics.record.torch_messages import NOT_AT_THE_BARRIER, RAN_OUT, is_lost_peer

_ENDING = (ExceptionSource.UNCAUGHT, ExceptionSource.SPAWN, ExceptionSource.OUTPUT, ExceptionSource.THREAD)
_SLACK_S = 0.05  # two clocks of one machine, and the time to write an exception down


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedOutRank:
    """One rank whose wait ran out."""

    process: JobProcess
    at_s: float
    text: str
    path: tuple[Frame, ...]  # the job's own frames, innermost first


@dataclass(frozen=True, slots=True, kw_only=True)
class AbsentRank:
    """One rank that was not there. `came_s` is when it came after all, None where it never did."""

    process: JobProcess
    came_s: float | None
    reason: WaitCause | None  # what it did instead, where a look at it tells
    stack: tuple[Frame, ...]
    came_to: tuple[Frame, ...]  # the job's own frames of what it came to
    left_s: float  # when it was last seen at work before
    left_at: tuple[Frame, ...]  # the job's own frames of its last call before


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedOut:
    """What there is to say about a timeout: who gave up, first of all first, and who was missing."""

    gave_up: tuple[TimedOutRank, ...]
    late: tuple[AbsentRank, ...]


def timed_out(job: Job) -> TimedOut | None:
    """Returns who gave up and who was late; None where no timeout fired, or nobody alive was missing."""
    gave_up = sorted(filter(None, map(_gave_up, job.ranks)), key=lambda one: one.at_s)
    if not gave_up:
        return None
    fired_s = gave_up[0].at_s
    if any(_ended_before(process, fired_s) for process in job.ranks):
        return None  # whoever left took what the others waited for along
    said = [found[1] for one in gave_up for found in NOT_AT_THE_BARRIER.finditer(one.text)]
    named = {int(word) for text in said for word in re.findall(r"\d+", text)}
    absent = [process for process in job.ranks if process.rank in named] if named else _absent(job, fired_s)
    looked_at = [_late(job, process, fired_s) for process in absent]
    late = tuple(one for one in looked_at if one is not None)
    missing = {one.process.rank for one in late}
    waited = tuple(one for one in gave_up if one.process.rank not in missing)
    if not late or not waited or any(_failed_otherwise(process, fired_s) for process in job.ranks):
        return None
    return TimedOut(gave_up=waited, late=late)


def _gave_up(process: JobProcess) -> TimedOutRank | None:
    """Returns the timeout that ended a rank's wait, once it had a process group."""
    agent = process.agent
    if agent is None or agent.last_event(GROUP_MADE) is None:
        return None
    raised = next((one for one in process.raised if one.how in _ENDING and RAN_OUT.search(one.text)), None)
    if raised is not None:
        return TimedOutRank(process=process, at_s=raised.at_s, text=raised.text, path=raised.user_path)
    found = RAN_OUT.search(process.stderr) if process.failed and not process.raised else None
    if found is None:  # NCCL's watchdog writes, and aborts the process
        return None
    text = process.stderr[max(0, found.start() - 200) : found.end() + 100]
    calls = agent.collectives
    path = user_frames(calls[-1].path, agent_folder=agent.agent_folder) if calls else ()
    return TimedOutRank(process=process, at_s=ended_s(process), text=text, path=path)


def _ended_before(process: JobProcess, fired_s: float) -> bool:
    return process.end.at_s is not None and process.end.at_s < fired_s - _SLACK_S


def _failed_otherwise(process: JobProcess, fired_s: float) -> bool:
    """Whether a rank raised something of its own before the timeout fired: that is why it did not come."""
    return any(one.how in _ENDING and one.at_s < fired_s and not is_lost_peer(one.text) for one in process.raised)


def _absent(job: Job, fired_s: float) -> list[JobProcess]:
    return [process for process in job.ranks if process.agent is not None and not _is_there(job, process, fired_s)]


def _is_there(job: Job, process: JobProcess, fired_s: float) -> bool:
    """Whether a rank was inside a collective, or in a backward pass, at that time."""
    agent = process.agent
    if agent is None:
        return True  # nothing tells: nobody is blamed for that
    for call in agent.collectives:
        left = job_time(job.facts, agent, call.left_s) if call.left_s is not None else float("inf")
        if job_time(job.facts, agent, call.entered_s) <= fired_s <= left + _SLACK_S and not call.asynchronous:
            return True
    steps = agent.steps
    if steps.backward_entered_s is None:
        return False
    entered = job_time(job.facts, agent, steps.backward_entered_s)
    gave_up = _gave_up(process)
    ended_in_it = gave_up is not None and not any(call.failed for call in agent.collectives[-1:])
    return entered <= fired_s and (steps.in_backward or ended_in_it)


def _late(job: Job, process: JobProcess, fired_s: float) -> AbsentRank | None:
    """Returns what a missing rank did; None where it was seen to wait for its peers elsewhere."""
    before, after = _calls_around(job, process, fired_s)
    raised = next((one for one in process.raised if one.how in _ENDING and one.at_s >= fired_s), None)
    came_s = (
        job_time(job.facts, process.agent, after.entered_s) if after is not None and process.agent is not None else None
    )
    if came_s is None and raised is not None:
        came_s = raised.at_s
    stack = stack_of(job, process)
    folder = process.agent_folder
    own = user_frames(stack, agent_folder=folder)
    last = observations_of(job, process).last
    seen_first = came_s is None or (last is not None and last.at_s < came_s)
    outside = bool(stack) and seen_first and activity_of(job, process, stack, own) is Whereabouts.OUTSIDE
    if stack and came_s is None and not outside:
        return None
    came_to = raised.user_path if raised is not None else user_frames(after.path, agent_folder=folder) if after else ()
    left = [job_time(job.facts, process.agent, before.left_s or before.entered_s)] if before and process.agent else []
    if process.agent is not None and process.agent.steps.last_s is not None:
        stepped = job_time(job.facts, process.agent, process.agent.steps.last_s)
        left += [stepped] if stepped < fired_s else []
    return AbsentRank(
        process=process,
        came_s=came_s,
        reason=wait_chain(job, process, stack) if outside else None,
        stack=stack if outside else (),
        came_to=came_to,
        left_s=max(left, default=process.began_s),
        left_at=user_frames(before.path, agent_folder=folder) if before is not None else (),
    )


def _calls_around(job: Job, process: JobProcess, time_s: float) -> tuple[CollectiveCall | None, CollectiveCall | None]:
    """Returns the last call that a rank made before a time, and the first one after it."""
    if process.agent is None:
        return None, None
    agent = process.agent
    before = [call for call in agent.collectives if job_time(job.facts, agent, call.entered_s) < time_s]
    after = [call for call in agent.collectives if job_time(job.facts, agent, call.entered_s) >= time_s]
    return before[-1] if before else None, after[0] if after else None

"""The last call that two ranks made alike, and what a rank did up to a moment. Pure."""

from __future__ import annotations

from diagnostics.core.frame import Frame
from diagnostics.dynamic.collectives.collective_log import CollectiveLog
from diagnostics.dynamic.collectives.collective_signature import NEW_GROUP, is_collective, mismatch
from diagnostics.dynamic.collectives.rank_state import PendingOperation, RankState
from diagnostics.dynamic.divergence.divergence import PointKind, ProgramPoint
from diagnostics.dynamic.job.job import ExceptionSource, Job
from diagnostics.dynamic.job.process_list import job_time as job_time
from diagnostics.record.agent_data import CollectiveCall

_SEEN = (
    ExceptionSource.CAUGHT,
    ExceptionSource.LOGGED,
    ExceptionSource.PRINTED,
    ExceptionSource.FORWARD,
    ExceptionSource.HELD,
)


def last_common_call(job: Job, one: RankState, other: RankState) -> tuple[ProgramPoint | None, float]:
    """Returns the last call that two ranks made alike and when; None and 0 where they made none."""
    mine, theirs = counts_of(job, one), counts_of(job, other)
    if mine is None or theirs is None:
        return None, 0.0
    pair, on_one_path = _last_alike(mine, theirs, one, other)
    waits = [wait for wait in (one.wait, other.wait) if wait is not None and wait.native]
    passes = min(_backwards(job, one), _backwards(job, other) + 1)
    if waits and passes >= 2 and _after(pair, waits[0]):
        return ProgramPoint(way=PointKind.CALL, op="backward", path=waits[0].path), 0.0
    event = same_event(job, one, other) if not on_one_path else None
    if pair is None or event is not None:
        return event, 0.0
    process = job.of_rank(one.rank)
    offset = job_time(job.facts, process.agent) if process is not None and process.agent is not None else 0.0
    return ProgramPoint(way=PointKind.CALL, op=pair.op, path=pair.path), offset + (pair.left_s or pair.entered_s)


def agreed_before(
    job: Job, one: RankState, mine: CollectiveCall, other: RankState, theirs: CollectiveCall
) -> ProgramPoint | None:
    """Returns the last call that two ranks made alike before `mine` and `theirs`, None where they made none."""
    counts = [counts_of(job, each) for each in (one, other)]
    earlier = [
        {(call.group, call.number): call for call in each.calls if call.sequence < first.sequence and call.number >= 0}
        for each, first in zip(counts, (mine, theirs), strict=True)
        if each is not None
    ]
    if len(earlier) < 2:
        return None
    for place, call in reversed(earlier[0].items()):
        partner = earlier[1].get(place)
        if partner is None or call.op == NEW_GROUP or not is_collective(call.op):
            continue
        told = [(each.op, each.shape, each.dtype, each.root) for each in (call, partner)]
        if not mismatch(*told):
            return ProgramPoint(way=PointKind.CALL, op=call.op, path=call.path)
    return same_event(job, one, other)


def _after(pair: CollectiveCall | None, wait: PendingOperation) -> bool:
    """Whether C++ made collectives between that call and the one it waits in."""
    return pair is None or pair.group != wait.group or wait.slot is None or pair.number + 1 < wait.slot


def _last_alike(
    mine: CollectiveLog, theirs: CollectiveLog, one: RankState, other: RankState
) -> tuple[CollectiveCall | None, bool]:
    """Returns the last call of one kind that both made on one path, else the last of one kind; and whether it is such.

    Ranks that had parted before may still meet in calls of one kind, made at two places: a barrier in a function that
    one rank is in matches the barrier behind it. What made them part lies before these.
    """
    in_it = {(wait.group, wait.slot) for each in (one, other) for wait in each.waits}
    of_kind: CollectiveCall | None = None
    for call in reversed(mine.calls):
        if call.number < 0 or not is_collective(call.op) or call.op == NEW_GROUP:
            continue
        partner = theirs.call(call.group, call.number)
        if partner is None or (call.group, call.number) in in_it or call.left_s is None or partner.left_s is None:
            continue
        told = [(each.op, each.shape, each.dtype, each.root) for each in (call, partner)]
        if mismatch(*told):
            continue
        if call.path == partner.path:
            return call, True
        of_kind = of_kind or call
    return of_kind, False


def counts_of(job: Job, one: RankState) -> CollectiveLog | None:
    """Returns how far a rank had come in each group, None where no agent told."""
    process = job.of_rank(one.rank)
    if process is None or process.agent is None:
        return None
    return CollectiveLog(process.agent, process.flight, process.threads, one.at_s - job_time(job.facts, process.agent))


def _backwards(job: Job, one: RankState) -> int:
    process = job.of_rank(one.rank)
    return process.agent.steps.backwards if process is not None and process.agent is not None else 0


def same_event(job: Job, one: RankState, other: RankState) -> ProgramPoint | None:
    """Returns where both wrapped their model, or made their group."""
    agents = [process.agent for each in (one, other) if (process := job.of_rank(each.rank)) is not None]
    for kind, op in (("ddp", "DistributedDataParallel"), ("process-group", "init_process_group")):
        events = [agent.last_event(kind) for agent in agents if agent is not None]
        if len(events) == 2 and all(event is not None and event.path for event in events) and events[0] is not None:
            return ProgramPoint(way=PointKind.CALL, op=op, path=events[0].path)
    return None


def exceptions_caught(job: Job, one: RankState, until_s: float, since_s: float = 0.0) -> tuple[tuple[Frame, ...], ...]:
    """Returns the tracebacks of what a rank caught in that time, seconds since the job started."""
    process = job.of_rank(one.rank)
    raised = process.raised if process is not None else ()
    return tuple(each.path for each in raised if each.how in _SEEN and since_s <= each.at_s <= until_s and each.path)

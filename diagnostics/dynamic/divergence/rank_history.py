"""Ranks of a deadlock that their own history tells apart: a group left out, a round cut short, another group. Pure.

What a rank has always done at a place, and whether what it waits in now breaks with that.

A rank that went round its loop several times is its own witness: the call that always followed another one, the group
that a line always called in. It needs no second rank that runs the same code, which sends and receives seldom have.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from diagnostics.agent.shared.layout import CALL_SLOTS
from diagnostics.core.frame import Frame
from diagnostics.dynamic.collectives.collective_signature import NEW_GROUP
from diagnostics.dynamic.collectives.rank_state import OperationKind, PendingOperation, RankState
from diagnostics.dynamic.collectives.wait_for_graph import Deadlock
from diagnostics.dynamic.divergence.branch_relation import BranchRelation, RankPartition
from diagnostics.dynamic.divergence.divergence import DivergenceQuery, PointKind, ProgramPoint
from diagnostics.dynamic.divergence.last_common_call import agreed_before, counts_of, exceptions_caught
from diagnostics.dynamic.divergence.loop_turns import partition_by_turns
from diagnostics.dynamic.divergence.shifted_calls import shifted
from diagnostics.dynamic.job.job import Job
from diagnostics.record.agent_data import CollectiveCall

FEWEST = 2  # rounds that make a habit
MOST_SINCE = 8  # calls that a rank made since it broke with one
_MESSAGES = (OperationKind.SEND, OperationKind.RECV)


def partition_by_history(job: Job, deadlock: Deadlock) -> RankPartition | None:
    """Returns which ranks did what they never did before, None where nothing of the kind tells."""
    peers = any(one.wait is not None and one.wait.kind in _MESSAGES for one in deadlock.positions)
    return (
        _made_apart(job, deadlock)
        or shifted(job, deadlock)
        or (peers and (_unlike_before(job, deadlock) or partition_by_turns(job, deadlock)))
        or _other_group(job, deadlock)
        or _other_arguments(job, deadlock)
    )


def _made_apart(job: Job, deadlock: Deadlock) -> RankPartition | None:
    """Returns who left out a group that others made: from there on it makes, or made, the wrong ones."""
    made = {one.rank: _groups_made(job, one) for one in deadlock.positions}
    for slot in range(max((len(calls) for calls in made.values()), default=0)):
        calls = [(one, made[one.rank][slot]) for one in deadlock.positions if slot < len(made[one.rank])]
        shapes = {call.shape for _, call in calls}
        if len(shapes) < 2:
            continue
        later = {call.shape for each in made.values() for call in each[slot + 1 :]}
        left_out = shapes & later if shapes - later else {call.shape for one, call in calls if _is_in(one, call)}
        here = [(one, call) for one, call in calls if call.shape in left_out]
        there = [(one, call) for one, call in calls if call.shape not in left_out]
        if not here or not there:
            return None
        parting = DivergenceQuery(
            agreed=agreed_before(job, *here[0], *there[0]),
            here=tuple(one.rank for one, _ in here),
            here_at=ProgramPoint(way=PointKind.CALL, op=NEW_GROUP, path=here[0][1].path),
            there=tuple(one.rank for one, _ in there),
            there_at=ProgramPoint(way=PointKind.CALL, op=NEW_GROUP, path=there[0][1].path),
        )
        camps = [tuple(one for one, _ in camp) for camp in (here, there)]
        return RankPartition(parting=parting, relation=BranchRelation.APART, here=camps[0], there=camps[1], sure=True)
    return None


def _groups_made(job: Job, one: RankState) -> tuple[CollectiveCall, ...]:
    """Returns the groups that a rank made together with all others; () where the earliest are forgotten."""
    counts = counts_of(job, one)
    calls = counts.calls if counts is not None else ()
    if len(calls) >= CALL_SLOTS:
        return ()
    return tuple(call for call in calls if call.op == NEW_GROUP and call.shape)


def _is_in(one: RankState, call: CollectiveCall) -> bool:
    return any(wait.op == NEW_GROUP and wait.path == call.path for wait in one.waits)


def _unlike_before(job: Job, deadlock: Deadlock) -> RankPartition | None:
    """Returns which ranks, of those that send and receive, left out what they did in every round before."""
    breaks = {one.rank: _break(job, one) for one in deadlock.positions}
    if not any(breaks.values()):
        breaks = {one.rank: _earlier_break(job, one) for one in deadlock.positions}
    here = tuple(one for one in deadlock.positions if breaks[one.rank] is not None)
    there = tuple(one for one in deadlock.positions if breaks[one.rank] is None)
    first = breaks[here[0].rank] if here else None
    if first is None or not there:
        return None
    parting = DivergenceQuery(
        agreed=ProgramPoint(way=PointKind.CALL, op=first.before.op, path=first.before.path),
        here=tuple(one.rank for one in here),
        here_at=ProgramPoint(way=PointKind.CALL, op=first.now.op, path=first.now.path),
        there=tuple(one.rank for one in there),
        there_at=ProgramPoint(way=PointKind.CALL, op=first.usual.op, path=first.usual.path),
        caught=exceptions_caught(job, here[0], here[0].at_s),
    )
    return RankPartition(parting=parting, relation=BranchRelation.APART, here=here, there=there, sure=True)


def partition_by_group(job: Job, deadlock: Deadlock) -> RankPartition | None:
    """Returns who passed by a call of a group of some ranks, in which another member waits for it, and that member.

    Who waits so may be missed itself in another such group: the one at the end of that chain has gone on to what all
    ranks do together, and where it stands now says nothing of where it passed by.
    """
    missed = {one.rank: absent for one in deadlock.positions if (absent := _absent_members(job, one, deadlock))}
    pairs = [
        (first, other, instead)
        for first in deadlock.positions
        for other in missed.get(first.rank, ())
        if other.rank not in missed and (instead := _made_instead(job, first, other)) is not None
    ]
    if not pairs:
        return None
    _, _, (before, usual, now) = pairs[0]
    alike = [(one, gone) for one, gone, (_, _, made) in pairs if (made.op, made.path) == (now.op, now.path)]
    there, here = ({one.rank: one for one in camp} for camp in zip(*alike, strict=True))
    parting = DivergenceQuery(
        agreed=ProgramPoint(way=PointKind.CALL, op=before.op, path=before.path),
        here=tuple(here),
        here_at=ProgramPoint(way=PointKind.CALL, op=now.op, path=now.path),
        there=tuple(there),
        there_at=ProgramPoint(way=PointKind.CALL, op=usual.op, path=usual.path),
    )
    camps = (tuple(here.values()), tuple(there.values()))
    return RankPartition(parting=parting, relation=BranchRelation.APART, here=camps[0], there=camps[1], sure=False)


def _absent_members(job: Job, one: RankState, deadlock: Deadlock) -> tuple[RankState, ...]:
    """Returns the members of a group of some ranks that never came to the call in which a rank waits there."""
    wait, counts = one.wait, counts_of(job, one)
    if wait is None or counts is None or wait.native or wait.kind is not OperationKind.COLLECTIVE or wait.slot is None:
        return ()
    members = counts.ranks(wait.group)
    if len(members) >= len(job.ranks):
        return ()
    return tuple(
        other
        for other in deadlock.positions
        if other.rank in members
        and (theirs := counts_of(job, other)) is not None
        and theirs.reached.get(wait.group, 0) <= wait.slot
    )


def _made_instead(
    job: Job, one: RankState, other: RankState
) -> tuple[CollectiveCall, CollectiveCall, CollectiveCall] | None:
    """Returns the call that both made last, that in which `one` waits now, and what `other` made instead."""
    mine, theirs, wait = counts_of(job, one), counts_of(job, other), one.wait
    if mine is None or theirs is None or wait is None or len(mine.calls) < 2:
        return None
    before, last = mine.calls[-2:]
    if (last.op, last.path) != (wait.op, wait.path) or not before.path:
        return None
    followed = [pair for pair in pairwise(theirs.calls) if (pair[0].op, pair[0].path) == (before.op, before.path)]
    now = followed[-1][1] if followed else None
    if now is None or not now.path or (now.op, now.path) == (wait.op, wait.path):
        return None
    return before, last, now


def left_out(job: Job, one: RankState, other: RankState) -> bool:
    """Whether a rank left out, for the first time, the call in which another one waits for it."""
    found, wait = _break(job, one), other.wait
    return found is not None and wait is not None and (found.usual.op, found.usual.path) == (wait.op, wait.path)


def calls_by_round(job: Job, one: RankState, op: str, path: tuple[Frame, ...]) -> tuple[int, ...]:
    """Returns how often a rank made a call from one place between its optimizer steps, oldest first.

    The last round is the one it is in; the first of a run, which may hold what is done once, is left out.
    """
    process, counts = job.of_rank(one.rank), counts_of(job, one)
    steps = process.agent.steps if process is not None and process.agent is not None else None
    if counts is None or steps is None or steps.last_s is None or not counts.calls:
        return ()
    ends = [steps.last_s]
    for duration in reversed(steps.durations_s):
        ends.append(ends[-1] - duration)
    known = [end for end in sorted(ends) if end >= counts.calls[0].entered_s]  # earlier calls may be forgotten
    made = [call.entered_s for call in counts.calls if (call.op, call.path) == (op, path)]
    bounds = [*known, math.inf]
    return tuple(sum(first <= at < last for at in made) for first, last in pairwise(bounds))


def comes_before_backward(job: Job, one: RankState, op: str, path: tuple[Frame, ...]) -> bool:
    """Whether a call from one place stood in front of the backward pass in the rank's last whole round."""
    process, counts = job.of_rank(one.rank), counts_of(job, one)
    steps = process.agent.steps if process is not None and process.agent is not None else None
    if counts is None or steps is None or steps.last_s is None or steps.backward_entered_s is None:
        return False
    made = [call.entered_s for call in counts.calls if (call.op, call.path) == (op, path)]
    last = max((at for at in made if at < steps.last_s), default=math.inf)
    return last < steps.backward_entered_s < steps.last_s


def _break(job: Job, one: RankState) -> HistoryBreak | None:
    counts = counts_of(job, one)
    found = breaks_history(counts.calls) if counts is not None and len(one.waits) == 1 else None
    return found if found is not None and one.wait is not None and found.now.path == one.wait.path else None


def _earlier_break(job: Job, one: RankState) -> HistoryBreak | None:
    """Returns the first break among a rank's latest calls: it may have gone on for a while before others missed it."""
    counts = counts_of(job, one)
    calls = counts.calls if counts is not None and len(one.waits) == 1 else ()
    found = (breaks_history(calls[: len(calls) - back]) for back in range(MOST_SINCE, 0, -1))
    return next((each for each in found if each is not None), None)


def _other_group(job: Job, deadlock: Deadlock) -> RankPartition | None:
    """Returns which ranks called in another group than ever before at a place where others kept to theirs."""
    if not any(_uses_groups(job, one) for one in deadlock.positions):
        return None
    asked = set()
    for first in deadlock.positions:
        wait = first.wait
        if wait is None or wait.kind is not OperationKind.COLLECTIVE or wait.native or wait.op == NEW_GROUP:
            continue
        if (wait.path, wait.op, wait.group) in asked or switches_group(_calls_at(job, first, wait)):
            continue
        asked.add((wait.path, wait.op, wait.group))  # of thousands of ranks, few wait in different places
        calls = {one.rank: _calls_at(job, one, wait) for one in deadlock.positions if one is not first}
        here = tuple(one for one in deadlock.positions if one is not first and switches_group(calls[one.rank]))
        odd = tuple(one for one in here if calls[one.rank][-1].group != wait.group)
        if odd:
            others = {rank: made[-1].group for rank, made in calls.items() if made}
            there = (first, *(one for one in deadlock.positions if others.get(one.rank) == wait.group))
            return _at_one_place(wait, odd, there)
    return None


def _other_arguments(job: Job, deadlock: Deadlock) -> RankPartition | None:
    """Returns which ranks, of those that met in one line, handed over another shape, type or root than ever before."""
    for first in deadlock.positions:
        wait = first.wait
        if wait is None or wait.kind is not OperationKind.COLLECTIVE or wait.native or wait.slot is None:
            continue
        met = [
            (one, [call for call in _calls_at(job, one, wait) if call.number <= wait.slot])
            for one in deadlock.positions
            if one.wait is not None and (one.wait.path, one.wait.op, one.wait.slot) == (wait.path, wait.op, wait.slot)
        ]
        here = tuple(one for one, calls in met if len(calls) > FEWEST and _is_new(calls))
        there = tuple(one for one, calls in met if len(calls) > FEWEST and not _is_new(calls))
        if not here or not there or len(here) + len(there) < len(met):
            continue
        return _at_one_place(wait, here, there)
    return None


def _at_one_place(wait: PendingOperation, here: tuple[RankState, ...], there: tuple[RankState, ...]) -> RankPartition:
    """Returns the parting of ranks that stand in one line, where the ranks `here` broke with their own rounds."""
    place = ProgramPoint(way=PointKind.CALL, op=wait.op, path=wait.path)
    parting = DivergenceQuery(
        agreed=None,
        here=tuple(one.rank for one in here),
        here_at=place,
        there=tuple(one.rank for one in there),
        there_at=place,
    )
    return RankPartition(parting=parting, relation=BranchRelation.SAME, here=here, there=there, sure=True)


def _is_new(calls: Sequence[CollectiveCall]) -> bool:
    """Whether the last of a rank's calls from one place differs from each one before in what must fit."""
    *before, last = ((one.shape, one.dtype, one.root) for one in calls)
    return last not in before


def _uses_groups(job: Job, one: RankState) -> bool:
    """Whether the rank has made calls in more than one group."""
    process = job.of_rank(one.rank)
    return process is not None and process.agent is not None and len(process.agent.groups) > 1


def _calls_at(job: Job, one: RankState, wait: PendingOperation) -> tuple[CollectiveCall, ...]:
    """Returns a rank's calls from the place of a wait, oldest first."""
    counts = counts_of(job, one)
    return tuple(call for call in counts.calls if call.op == wait.op and call.path == wait.path) if counts else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryBreak:
    """After `before` always came `usual`; `now` came instead."""

    before: CollectiveCall
    usual: CollectiveCall
    now: CollectiveCall


def breaks_history(calls: Sequence[CollectiveCall]) -> HistoryBreak | None:
    """Returns how the last of a rank's calls, oldest first, breaks with what used to follow; None where it does not."""
    if len(calls) < FEWEST + 2 or not calls[-1].path:
        return None
    *_, before, now = calls
    pairs = pairwise(calls[:-1])
    followers = [after for one, after in pairs if one.path == before.path and after.thread == one.thread]
    if len(followers) < FEWEST or any(after.path == now.path for after in followers):
        return None
    path, times = Counter(after.path for after in followers).most_common(1)[0]
    if times < len(followers):
        return None
    return HistoryBreak(before=before, usual=next(one for one in reversed(followers) if one.path == path), now=now)


def switches_group(calls: Sequence[CollectiveCall]) -> bool:
    """Whether the last of a rank's calls from one place names another group than each one before."""
    return len(calls) > FEWEST and all(one.group != calls[-1].group for one in calls[:-1])

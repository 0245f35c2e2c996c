"""Where ranks of a deadlock last agreed, what each did next, and which of them went another way. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.dynamic.collectives.collective_signature import NEW_GROUP
from diagnostics.dynamic.collectives.rank_state import OperationKind, PendingOperation, RankState, Whereabouts
from diagnostics.dynamic.collectives.wait_for_graph import Deadlock, DeadlockKind, differ
from diagnostics.dynamic.divergence.branch_relation import BranchRelation, RankPartition, relate
from diagnostics.dynamic.divergence.divergence import DivergenceQuery, PointKind, ProgramPoint
from diagnostics.dynamic.divergence.last_common_call import counts_of, exceptions_caught, last_common_call
from diagnostics.dynamic.divergence.rank_history import (
    FEWEST,
    calls_by_round,
    comes_before_backward,
    left_out,
    partition_by_group,
    partition_by_history,
)
from diagnostics.dynamic.job.job import Job


def partitions(job: Job, deadlock: Deadlock, positions: Sequence[RankState] = ()) -> tuple[RankPartition, ...]:
    """Returns each odd camp of a deadlock against the largest other one; () where all stand in one place alike.

    A rank of which it is not certain that it is stuck counts with the camp in whose very call it waits, or through
    which it went: a sender to the root of a reduce goes on at once.
    """
    made = partition_by_history(job, deadlock)
    if made is not None:
        return (replace(made, by_history=True),)
    passed = partition_by_group(job, deadlock) if deadlock.knot is DeadlockKind.CROSSED else None
    if passed is not None:
        return (passed,)
    camps = _camps(job, deadlock)
    _join(job, camps, [one for one in positions if one.rank not in deadlock.ranks])
    if len(camps) < 2:
        return ()
    odd = _ahead_of_a_backward_pass(job, camps) or _without_a_call_of_each_round(job, camps)
    if odd is not None:
        return (replace(_split(job, *odd, sure=True), by_history=True),)
    scored = sorted(camps, key=lambda camp: -_oddness(job, camp, camps, deadlock))
    usual = scored[-1]
    marks = [_oddness(job, camp, camps, deadlock) for camp in scored]
    return tuple(
        _split(job, camp, usual, sure=mark > marks[-1])
        for camp, mark in zip(scored[:-1], marks[:-1], strict=True)
        if mark > marks[-1] or len(camps) == 2 or mark == marks[0]
    )


def as_they_met(deadlock: Deadlock) -> Deadlock:
    """Returns the deadlock with each rank in the call with which it went through what others still wait in.

    Of calls that do not fit together one may come to its end, as gloo's with the smaller tensor does. What that rank
    waits in now is a consequence.
    """
    waits = [wait for one in deadlock.positions for wait in one.waits]
    waits = [wait for one in deadlock.positions for wait in one.waits]
    places = {(wait.group, wait.slot): wait for wait in waits if wait.slot is not None}
    met = tuple(
        replace(one, waits=(passed[0],)) if (passed := _unlike(one, places)) else one for one in deadlock.positions
    )
    return deadlock if met == deadlock.positions else replace(deadlock, knot=DeadlockKind.MISMATCH, positions=met)


def _unlike(one: RankState, places: Mapping[tuple[str, int], PendingOperation]) -> list[PendingOperation]:
    passed = [(places[place], own) for place, own in sorted(one.passed.items()) if place in places]
    return [own for waited, own in passed if differ(own, waited)]


def user_stack(job: Job, one: RankState) -> tuple[Frame, ...]:
    """Returns the job's own frames at which a rank stands, innermost first."""
    wait = one.wait
    frames = wait.path if wait is not None and wait.path else one.stack
    process = job.of_rank(one.rank)
    if one.stand in (Whereabouts.LEAVING, Whereabouts.ENDED) or (not frames and process is not None):
        left = (
            process.agent.last_event("sys.exit", "os._exit")
            if process is not None and process.agent is not None
            else None
        )
        frames = left.path if left is not None else frames
    folder = process.agent.agent_folder if process is not None and process.agent is not None else ""
    return tuple(frame for frame in user_frames(frames, agent_folder=folder) if not frame.file.startswith("<"))


def _camps(job: Job, deadlock: Deadlock) -> list[list[RankState]]:
    camps: dict[object, list[RankState]] = defaultdict(list)
    for one in (*deadlock.positions, *deadlock.gone):
        camps[_key(job, one)].append(one)
    if len(camps) == 1 and deadlock.knot is not DeadlockKind.GONE:
        return []
    return list(camps.values())


def _join(job: Job, camps: Sequence[list[RankState]], others: Sequence[RankState]) -> None:
    by_key = {_key(job, camp[0]): camp for camp in camps}
    waits = [wait for camp in camps if (wait := camp[0].wait) is not None]
    places = [(wait.group, wait.slot) for wait in waits if wait.slot is not None]
    for one in others:
        passed = [one.passed[place] for place in places if place in one.passed]
        for met in (one, *(replace(one, waits=(call,)) for call in passed)):
            if met.wait is not None and _key(job, met) in by_key:
                by_key[_key(job, met)].append(met)
                break


def _key(job: Job, one: RankState) -> object:
    wait = one.wait
    if wait is None or wait.kind is OperationKind.DESTROY:
        return one.stand, wait is not None
    lines = tuple((frame.file, frame.line) for frame in user_stack(job, one))
    if wait.native:
        return "native", wait.group, wait.slot, wait.recorded.partition("(")[0]
    if wait.kind is not OperationKind.COLLECTIVE:
        return wait.op, lines
    return wait.op, wait.group, wait.slot, wait.shape, wait.dtype, wait.root, lines


def _oddness(job: Job, camp: Sequence[RankState], camps: Sequence[Sequence[RankState]], deadlock: Deadlock) -> float:
    """Returns how much tells that these ranks went another way than the rest."""
    first = camp[0]
    rest = [other for other in camps if other is not camp]
    ranks = sum(map(len, camps))
    mark = 0.0
    if first.stand in (Whereabouts.LEAVING, Whereabouts.ENDED) or (
        first.wait is not None and first.wait.kind is OperationKind.DESTROY
    ):
        mark += 6
    if deadlock.knot is DeadlockKind.NEW_GROUP:
        mark += 4 * all(first.reached.get(NEW_GROUP, 0) < o[0].reached.get(NEW_GROUP, 0) for o in rest)
    for other in rest:
        found = relate(job.sources, user_stack(job, first), user_stack(job, other[0]))
        mark += {BranchRelation.ONE_INSIDE: 3, BranchRelation.ONE_LEFT_LOOP: 2}.get(found, 0) / len(rest)
    mark += 1.5 * (not is_recurrent(job, first) and any(is_recurrent(job, other[0]) for other in rest))
    mark += 1.5 * all(left_out(job, first, other[0]) for other in rest)
    mark += 2 * any(exceptions_caught(job, one, first.at_s) for one in camp)
    mark += 4 * any(_threw_at(job, one, other[0]) for one in camp for other in rest)
    mark += max(0.0, 1 - len(camp) * len(camps) / ranks)  # fewer than others, which two ranks never are
    mark += 5 * (2 * len(camp) < ranks and any(2 * len(other) > ranks for other in rest))  # what most did is usual
    steps = [_steps(job, other[0]) for other in rest]
    mark += 0.5 * (_steps(job, first) < min(steps, default=0))
    return mark


def _threw_at(job: Job, one: RankState, other: RankState) -> bool:
    """Whether a rank, since both agreed, caught what the very call raised in which the other waits, and went on."""
    stood = [(frame.file, frame.line) for frame in user_stack(job, other)]
    if other.wait is None or other.wait.native or not stood:
        return False
    process = job.of_rank(one.rank)
    folder = process.agent_folder if process is not None else ""
    for path in exceptions_caught(job, one, one.at_s, last_common_call(job, one, other)[1]):
        way = [(frame.file, frame.line) for frame in user_frames(path, agent_folder=folder)]
        if way and stood[: len(way)] == way:  # a traceback ends in the frame of the handler
            return True
    return False


def _ahead_of_a_backward_pass(
    job: Job, camps: Sequence[Sequence[RankState]]
) -> tuple[Sequence[RankState], Sequence[RankState]] | None:
    """Returns the ranks that made a step without the exchange in which the others still wait, and those.

    All have made equally many operations of the group; those behind are in a backward pass as in each round before.
    """
    waits = [one.wait for camp in camps for one in camp]
    places = {(wait.group, wait.slot) for wait in waits if wait is not None}
    if len(camps) != 2 or len(places) != 1 or None in waits or places.pop()[1] is None:
        return None
    behind, ahead = sorted(camps, key=lambda camp: _steps(job, camp[0]))
    exchange = behind[0].wait
    if exchange is None or not exchange.native or exchange.recorded.startswith("broadcast"):
        return None
    if max(_steps(job, one) for one in behind) >= min(_steps(job, one) for one in ahead):
        return None
    usual = all(is_recurrent(job, one) and not _did_more(job, one, ahead[0]) for one in behind)
    return (ahead, behind) if usual else None


def _without_a_call_of_each_round(
    job: Job, camps: Sequence[Sequence[RankState]]
) -> tuple[Sequence[RankState], Sequence[RankState]] | None:
    """Returns the ranks in whose round a call is missing that each of theirs had, and those that wait in it."""
    for waiting, others in (camps, camps[::-1]) if len(camps) == 2 else ():
        wait = waiting[0].wait
        if wait is None or wait.native or wait.kind is not OperationKind.COLLECTIVE:
            continue
        rounds = [calls_by_round(job, one, wait.op, wait.path) for one in (*waiting, *others)]
        habit = min(len(made) for made in rounds) > FEWEST and len({made[0] for made in rounds}) == 1
        if not habit or any(len(set(made[:-1])) > 1 or not made[0] for made in rounds):
            continue
        # Behind the backward pass it would be those in front of it who go on as ever.
        if not all(comes_before_backward(job, one, wait.op, wait.path) for one in waiting):
            continue
        if all(made[-1] == made[0] for made in rounds[: len(waiting)]) and not any(
            made[-1] for made in rounds[len(waiting) :]
        ):
            return others, waiting
    return None


def _did_more(job: Job, one: RankState, other: RankState) -> bool:
    """Whether a rank made a call from Python, since the two last agreed, that the other one did not make."""
    mine, theirs = counts_of(job, one), counts_of(job, other)
    if mine is None or theirs is None:
        return True
    made = {call.path for call in theirs.calls}
    return any(call.path not in made for call in mine.calls)


def _steps(job: Job, one: RankState) -> int:
    process = job.of_rank(one.rank)
    return process.steps if process is not None else 0


def is_recurrent(job: Job, one: RankState) -> bool:
    """Whether the rank has been where it waits before: in a loop that all ranks went through."""
    wait, process = one.wait, job.of_rank(one.rank)
    if wait is None or process is None or process.agent is None:
        return False
    if wait.native:
        return process.agent.steps.backwards > 1
    return any(
        call.path == wait.path and call.left_s is not None and not call.failed
        for call in process.agent.collectives[:-1]
    )


def _split(job: Job, odd: Sequence[RankState], usual: Sequence[RankState], *, sure: bool) -> RankPartition:
    here, there = odd[0], usual[0]
    agreed, at_s = last_common_call(job, here, there)
    parting = DivergenceQuery(
        agreed=agreed,
        here=tuple(one.rank for one in odd),
        here_at=_place(job, here),
        there=tuple(one.rank for one in usual),
        there_at=_place(job, there),
        caught=exceptions_caught(job, here, here.at_s, at_s),
    )
    found = relate(job.sources, user_stack(job, here), user_stack(job, there))
    return RankPartition(parting=parting, relation=found, here=tuple(odd), there=tuple(usual), sure=sure)


def _place(job: Job, one: RankState) -> ProgramPoint:
    if one.wait is None or one.wait.kind is OperationKind.DESTROY:
        way = PointKind.ENDED if one.wait is None else PointKind.CALL
        return ProgramPoint(way=way, op=one.wait.op if one.wait is not None else "", path=user_stack(job, one))
    native = one.wait.native
    op = "backward" if native else one.wait.op
    path = one.wait.path or one.stack
    return ProgramPoint(way=PointKind.CALL, op=op, path=path, root=one.wait.root, group=one.wait.group)

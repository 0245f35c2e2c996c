"""Whether a job that was looked at from outside goes on, stands still, or nobody can tell. Pure.

Nothing that stands for some seconds is proved to stand for ever; the words say how long it was looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from diagnostics.core import untrusted_json
from diagnostics.core.frames import location
from diagnostics.dynamic.collectives.collective_signature import CALLED_BY_ALL
from diagnostics.dynamic.job import cpu_shares
from diagnostics.dynamic.job.job import Job, ProcessRole
from diagnostics.dynamic.job.stack_classifier import RankActivity
from diagnostics.dynamic.stall.motion import ActivityLevel
from diagnostics.dynamic.stall.stack_prefix_tree import ProcessStack, missing_ranks, names, ranges

FILE_NAME = "looks.json"  # in record/captures
RARE_PER_S = 0.5  # wake-ups of what waits for something that does not come
_MEETING = ("init_process_group", "rendezvous")
_PEERS = (RankActivity.WAITS, RankActivity.BACKWARD)
# Calls that end when all have come: whoever is not in one is waited for. A message has one peer, which no stack names.
_FOR_ALL = frozenset((*CALLED_BY_ALL, *_MEETING, "backward"))
_SHOWN_PLACES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Liveness:
    """`still`: no rank came further; `goes_on`: some did. Neither: `words` say why that cannot be told."""

    still: bool
    goes_on: bool
    words: str


def assess(
    standings: Sequence[ProcessStack], *, seconds: float, cwd: str, trains: bool = True, world_size: int | None = None
) -> Liveness:
    """Returns what the looks at a job mean. `trains` is False where no rank has torch in its memory."""
    ranks = [one for one in standings if one.part is ProcessRole.RANK and one.moved.looks > 1]
    if not ranks:
        return _unknown("the launcher has started no rank yet, or none of them lives")
    if not any(one.frames for one in ranks):
        idle = all(one.moved.motion in (ActivityLevel.FROZEN, ActivityLevel.STOPPED) for one in ranks)
        ran = f"; no main thread of a rank ran for {seconds:.0f} s" if idle else ""
        return _unknown(f"no stack of any rank could be read{ran}")
    workers = {one.pid: [kid for kid in standings if kid.owner == one.pid] for one in ranks}
    working = [one for one in ranks if _works(one, workers[one.pid])]
    resting = [one for one in ranks if one not in working]
    over = f"for the {seconds:.0f} s of looking"
    if not resting:
        return _all_work(ranks, cwd, over)
    waiting = [one for one in resting if one.place.doing in _PEERS and one.moved.motion is not ActivityLevel.STOPPED]
    # Who meets at a store asks it again and again.
    got_on = [one for one in waiting if one.moved.motion is not ActivityLevel.FROZEN and one.place.op not in _MEETING]
    if working:
        all_wait = len(waiting) == len(resting) and all(one.place.op in _FOR_ALL for one in waiting)
        who = f"{_rest_words(resting, cwd)} for {_work_words(working, workers, cwd)}"
        if not all_wait:
            who = f"{_work_words(working, workers, cwd, link='')}; {_rest_words(resting, cwd)}"
        away = _absent_words(ranks, world_size, before=", or for ") if all_wait else ""
        return _some_work(working, resting, f"{who}{away}", over, got_on=bool(got_on))
    if got_on:
        return _unknown(f"{names(got_on)} woke up now and then in torch.distributed, and stood at the same line {over}")
    polling = [one for one in resting if one.moved.motion is ActivityLevel.POLLS]
    alone = not waiting and not any(one.moved.motion is ActivityLevel.STOPPED for one in resting)
    if alone and any(not _waits_in_vain(one, workers[one.pid]) for one in polling):
        return _unknown(f"{names(polling)} woke up now and then at {_at(polling[0], cwd)}, and stood there {over}")
    if not trains:
        return _unknown(f"nothing moved {over}, but no torch is in it: it may wait for work")
    return Liveness(still=True, goes_on=False, words=_standing_words(ranks, cwd, over, world_size))


def judgement_of(job: Job) -> Liveness | None:
    """Returns what was found when the job of this case was looked at, None for one that the doctor had started."""
    text = job.extra.get(FILE_NAME, "")
    try:
        found = untrusted_json.loads(text) if text else None
    except ValueError:
        return None
    if not isinstance(found, Mapping):
        return None
    return Liveness(
        still=found.get("still") is True,
        goes_on=found.get("goes_on") is True,
        words=found["words"] if isinstance(found.get("words"), str) else "",
    )


def _standing_words(ranks: Sequence[ProcessStack], cwd: str, over: str, world_size: int | None) -> str:
    first = ranks[0]
    alike = first.place.doing in _PEERS and len({(one.place.op, one.place.user) for one in ranks}) == 1
    if not alike:
        return f"no rank came any further {over}"
    away = _absent_words(ranks, world_size, before="; ", after=": look there, too")
    return f"{names(ranks)} waited in {first.place.op} at {_at(first, cwd)} {over}{away}"


def _absent_words(ranks: Sequence[ProcessStack], world_size: int | None, *, before: str, after: str = "") -> str:
    absent = missing_ranks(ranks, world_size)
    if not absent:
        return ""
    return f"{before}rank {ranges(absent)} of {world_size}, which is not on this machine{after}"


def _works(one: ProcessStack, kids: Sequence[ProcessStack]) -> bool:
    if one.moved.motion in (ActivityLevel.MOVES, ActivityLevel.BUSY):
        return one.place.doing is not RankActivity.WAITS or one.moved.motion is ActivityLevel.MOVES
    if (one.moved.cpus or 0.0) >= cpu_shares.WORKS and one.moved.motion is not ActivityLevel.STOPPED:
        return True  # its other threads are at work for it
    return any(_is_busy(kid) for kid in kids)


def _is_busy(kid: ProcessStack) -> bool:
    moving = (ActivityLevel.MOVES, ActivityLevel.BUSY)
    return kid.moved.motion in moving and (kid.moved.cpus or 0.0) >= cpu_shares.POLLS


def _waits_in_vain(one: ProcessStack, kids: Sequence[ProcessStack]) -> bool:
    """Whether what it asks for again and again cannot have come: it asks rarely, or its workers did not run."""
    workers = [kid for kid in kids if kid.part is ProcessRole.DATA_WORKER]
    if workers:
        return all(
            kid.moved.motion in (ActivityLevel.FROZEN, ActivityLevel.STOPPED, ActivityLevel.POLLS) for kid in workers
        ) and any(kid.moved.motion in (ActivityLevel.FROZEN, ActivityLevel.STOPPED) for kid in workers)
    return (one.moved.switches_per_s or 0.0) <= RARE_PER_S


def _all_work(ranks: Sequence[ProcessStack], cwd: str, over: str) -> Liveness:
    moving = [one for one in ranks if one.moved.motion is ActivityLevel.MOVES]
    if moving or any(one.moved.motion is not ActivityLevel.BUSY for one in ranks):
        return Liveness(still=False, goes_on=True, words=f"{names(moving or ranks)} moved")
    return _unknown(f"{names(ranks)} computed at {_at(ranks[0], cwd)} {over}: long work and an endless loop look alike")


def _some_work(
    working: Sequence[ProcessStack], resting: Sequence[ProcessStack], who: str, over: str, *, got_on: bool
) -> Liveness:
    moving = [one for one in working if one.moved.motion is ActivityLevel.MOVES]
    woken = all(one.moved.motion is ActivityLevel.POLLS for one in resting)  # none of them waits for ever
    if got_on or (moving and woken) or any(not one.moved.same_function for one in moving):
        return Liveness(still=False, goes_on=True, words=who)
    return _unknown(f"{who}, {over}: long work and an endless loop look alike")


def _rest_words(resting: Sequence[ProcessStack], cwd: str) -> str:
    """Returns "ranks 0,2 waited in all_reduce at train.py:40", one such part for each place."""
    by_place: dict[str, list[ProcessStack]] = {}
    for one in resting:
        call = f"waited in {one.place.op} at" if one.place.doing in _PEERS else "stood at"
        by_place.setdefault(f"{call} {_at(one, cwd)}", []).append(one)
    parts = [f"{names(who)} {place}" for place, who in [*by_place.items()][:_SHOWN_PLACES]]
    more = len(by_place) - _SHOWN_PLACES
    return ", ".join([*parts, *([f"others at {more} more places"] if more > 0 else [])])


def _work_words(
    working: Sequence[ProcessStack], kids: Mapping[int, Sequence[ProcessStack]], cwd: str, *, link: str = ", which"
) -> str:
    """Returns "rank 1, which worked at train.py:31", with what works for it where it only waits for that."""
    by_place: dict[str, list[ProcessStack]] = {}
    for one in working:
        by_place.setdefault(_work_of(one, kids[one.pid], cwd), []).append(one)
    parts = [f"{names(who)}{link} {does}" for does, who in [*by_place.items()][:_SHOWN_PLACES]]
    more = len(by_place) - _SHOWN_PLACES
    return ", ".join([*parts, *([f"others at {more} more places"] if more > 0 else [])])


def _work_of(one: ProcessStack, kids: Sequence[ProcessStack], cwd: str) -> str:
    busy = [kid for kid in kids if _is_busy(kid)]
    if not busy or one.moved.motion in (ActivityLevel.MOVES, ActivityLevel.BUSY):
        return f"worked at {_at(one, cwd)}"
    kind = "data worker" if busy[0].part is ProcessRole.DATA_WORKER else "process"
    return f"stood at {_at(one, cwd)} while its {kind} {busy[0].pid} worked at {_at(busy[0], cwd)}"


def _unknown(words: str) -> Liveness:
    return Liveness(still=False, goes_on=False, words=words)


def _at(one: ProcessStack, cwd: str) -> str:
    frames = one.place.user or one.frames
    return location(frames[0], cwd) if frames else f"pid {one.pid}"

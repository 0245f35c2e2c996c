"""Ranks that behaved alike, so that ten thousand of them fit on one screen. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from diagnostics.dynamic.job.job import Job, JobProcess

EACH = 8  # as many ranks or fewer: each has its own lane
MOST_LANES = 40


def lanes_wanted(job: Job) -> list[tuple[JobProcess, tuple[int, ...]]]:
    """Returns the processes that get a lane, each with the ranks it stands for; the odd ones on top.

    Culprits come first, then the smaller groups: what one rank did alone is what one looks for.
    """
    ranks = [one for one in job.ranks if one.rank is not None]
    culprits = {one.pid for one in job.culprits}
    if len(ranks) <= EACH:
        return [(one, (one.rank,)) for one in ranks if one.rank is not None]
    groups = _grouped(ranks, culprits)
    order = sorted(groups, key=lambda group: (group[0].pid not in culprits, len(group), group[0].rank))
    shown, rest = order[:MOST_LANES], order[MOST_LANES:]
    lanes = [(group[0], _ranks(group)) for group in shown]
    if rest:  # too many kinds: the last lane stands for all others, whatever they did
        first, last = lanes[-1]
        lanes[-1] = (first, tuple(sorted({*last, *(rank for group in rest for rank in _ranks(group))})))
    return lanes


def _grouped(ranks: Sequence[JobProcess], culprits: set[int]) -> list[list[JobProcess]]:
    """Returns the groups by all that tells ranks apart; by less where that gives more groups than one looks at."""
    found: list[list[JobProcess]] = []
    for finest in (True, False):
        groups: dict[tuple[object, ...], list[JobProcess]] = {}
        for one in ranks:
            groups.setdefault(_behaviour(one, one.pid in culprits, finest=finest), []).append(one)
        found = list(groups.values())
        if len(found) <= MOST_LANES:
            break
    return found


def _behaviour(process: JobProcess, culprit: bool, *, finest: bool) -> tuple[object, ...]:
    """Returns what ranks that behave alike have in common: how they ended and where they stood."""
    agent = process.agent
    call = agent.collectives[-1] if agent is not None and agent.collectives else None
    last = (call.op, call.group, call.left_s is None) if call is not None else None
    ended = (process.end.exit_code, process.end.signal, process.ended_by.partition(" ")[0])
    uncaught = process.uncaught
    common = (culprit, agent is None, ended, last, uncaught.type if uncaught is not None else "")
    if not finest:
        return common
    place = process.stacks[0][0] if process.stacks and process.stacks[0] else None
    number = call.number if call is not None else None
    return (*common, number, process.steps, (place.file, place.line) if place is not None else None)


def _ranks(group: Iterable[JobProcess]) -> tuple[int, ...]:
    return tuple(sorted(one.rank for one in group if one.rank is not None))

"""Collectives that completed although the ranks disagreed: the first one, by slot, and by the groups' rolling hashes.

Gloo checks neither operation nor type: it adds bit patterns, and the job goes on with wrong numbers. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.dynamic.collectives.collective_signature import NEW_GROUP, is_counted, mismatch
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.record.agent_data import CollectiveCall, GroupProgress


@dataclass(frozen=True, slots=True, kw_only=True)
class SilentMismatch:
    """The first known disagreement of two ranks; the calls are None where it is no longer in the rings."""

    group: str
    one: JobProcess
    other: JobProcess
    what: str  # "operation", "dtype", "size", "root", "reduction"; "" where only the hashes tell
    call: CollectiveCall | None = None
    other_call: CollectiveCall | None = None
    agreed: CollectiveCall | None = None  # the last call that both made alike
    between: tuple[int, int] | None = None  # calls of the group between which it lies, where the hashes bound it


def silent_disagreements(job: Job) -> Iterator[SilentMismatch]:
    """Yields for each rank of a group that disagrees with its first rank the first disagreement that is known."""
    holders: dict[tuple[str, tuple[int, ...]], list[tuple[JobProcess, GroupProgress]]] = {}
    for process in job.ranks:
        for group in process.agent.groups if process.agent is not None else ():
            if len(group.ranks) > 1:
                holders.setdefault((group.group, group.ranks), []).append((process, group))
    for (name, _), members in holders.items():
        (first, progress), *rest = members
        slots = _slots(first, name) if rest else {}
        for other, theirs in rest:
            if (progress.calls, progress.rolling_hash) != (theirs.calls, theirs.rolling_hash):
                found = _compare(name, first, slots, other) or _by_hash(name, (first, progress), (other, theirs))
                if found is not None:
                    yield found


def _slots(process: JobProcess, group: str) -> dict[int, CollectiveCall]:
    """Returns the completed calls of a group by slot; where several calls share one (coalesced ones), none."""
    found: dict[int, CollectiveCall | None] = {}
    for call in process.agent.collectives if process.agent is not None else ():
        if call.group == group and call.number >= 0 and is_counted(call.op, call.shape) and call.op != NEW_GROUP:
            found[call.number] = None if call.number in found else call
    return {
        number: call
        for number, call in found.items()
        if call is not None and call.left_s is not None and not call.failed
    }


def _compare(group: str, one: JobProcess, slots: dict[int, CollectiveCall], other: JobProcess) -> SilentMismatch | None:
    theirs, agreed = _slots(other, group), None
    for number in sorted(slots.keys() & theirs.keys()):
        mine, its = slots[number], theirs[number]
        what = mismatch((mine.op, mine.shape, mine.dtype, mine.root), (its.op, its.shape, its.dtype, its.root))
        if what:
            return SilentMismatch(
                group=group, one=one, other=other, what=what, call=mine, other_call=its, agreed=agreed,
            )  # fmt: skip
        agreed = mine
    return None


def _by_hash(
    group: str, one: tuple[JobProcess, GroupProgress], other: tuple[JobProcess, GroupProgress]
) -> SilentMismatch | None:
    """Returns what the hashes alone tell: as many calls, other ones. Unequal counts alone prove nothing (join())."""
    if one[1].calls != other[1].calls:
        return None
    theirs = dict(other[1].checkpoints)
    apart = [(calls, told == theirs.get(calls)) for calls, told in one[1].checkpoints if calls in theirs]
    alike = max((calls for calls, same in apart if same), default=0)
    first = min((calls for calls, same in apart if not same), default=one[1].calls)
    return SilentMismatch(group=group, one=one[0], other=other[0], what="", between=(alike, first))

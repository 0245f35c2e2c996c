"""What to write where ranks met in one collective with another size, type or root: says it with their values. Pure."""

from __future__ import annotations

from diagnostics.core.findings import Fix
from diagnostics.dynamic.collectives.rank_state import PendingOperation, RankState
from diagnostics.dynamic.collectives.wait_for_graph import Deadlock
from diagnostics.dynamic.divergence.rank_partition import user_stack
from diagnostics.dynamic.job.job import Job

_ALIKE = {
    "size": ("shape", "tensors of one size", "pad or cut them first, or gather their sizes and then by the largest"),
    "dtype": ("dtype", "tensors of one type", "convert them before the call"),
    "root": ("root", "one and the same root", "it is a rank of the whole job, the same number on all ranks, and not "
             "the own one or its number on the host"),
}  # fmt: skip


def mismatch_fix(job: Job, deadlock: Deadlock) -> Fix | None:
    """Returns what to make alike, with each side's value; None where other operations met, or no value is known."""
    at = {one.rank: one for one in deadlock.positions}
    for pair in deadlock.disagreements:
        alike = _ALIKE.get(pair.what)
        sides = at.get(pair.one), at.get(pair.other)
        if alike is None or sides[0] is None or sides[1] is None:
            continue
        first, second = sides[0].wait, sides[1].wait
        if first is None or second is None or not first.op or first.op != second.op:
            continue
        attribute, goal, how = alike
        values = [_value(one, attribute) for one in (first, second)]
        if not all(values) or values[0] == values[1]:
            continue
        places = " and ".join(dict.fromkeys(_line(job, one) for one in (sides[0], sides[1])))
        return Fix(
            text=f"give {first.op}() {goal} on all ranks ({places}: rank {pair.one} has {values[0]}, rank {pair.other} "
            f"has {values[1]}): {how}"
        )
    return None


def _value(wait: PendingOperation, attribute: str) -> str:
    value = getattr(wait, attribute)
    return "" if value is None else str(value)


def _line(job: Job, one: RankState) -> str:
    frames = user_stack(job, one)
    return job.line(frames[0]) if frames else "its call"

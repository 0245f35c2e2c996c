"""Memory of a rank's own that grows with each step, and does not stop. Pure.

A cache grows until it is full, an allocator until it has what a step needs. What counts grows on a straight line over
all looks at it, in the second half as in the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.steps.steady import RankSteps
from diagnostics.record.usage import ProcessUsage

LEAST_LOOKS = 8
LEFT_OUT = 0.2  # of the time at the start
STRAIGHT = 0.97  # square of the correlation with time
RISING = 0.85  # of the looks that see more than the one before
LIKE_BEFORE = 0.6  # what the second half must grow by, of what the first did


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryGrowth:
    """One rank."""

    of: RankSteps
    first_bytes: float
    last_bytes: float
    seconds: float
    step_bytes: float  # a step
    looks: int

    @property
    def grown_bytes(self) -> float:
        """By how much, over the looks that count."""
        return self.last_bytes - self.first_bytes


def memory_growth(job: Job, ranks: Sequence[RankSteps]) -> tuple[MemoryGrowth, ...]:
    """Returns the ranks whose memory grows from step to step."""
    return tuple(found for one in ranks if (found := _growth(job, one)) is not None)


def _growth(job: Job, one: RankSteps) -> MemoryGrowth | None:
    looks = job.usage.processes.get(f"{one.process.pid}-{one.process.start_ticks}", ())
    from_s, to_s = one.window_s(job)
    from_s += LEFT_OUT * (to_s - from_s)
    inside = [look for look in looks if from_s <= look.at_s <= to_s and look.private_bytes >= 0]
    if len(inside) < LEAST_LOOKS or not _is_straight(inside):
        return None
    first, last = inside[0], inside[-1]
    seconds = last.at_s - first.at_s
    grown = last.private_bytes - first.private_bytes
    return MemoryGrowth(
        of=one,
        first_bytes=first.private_bytes,
        last_bytes=last.private_bytes,
        seconds=seconds,
        step_bytes=grown / seconds * one.wall_s,
        looks=len(inside),
    )


def _is_straight(looks: Sequence[ProcessUsage]) -> bool:
    times, sizes = [look.at_s for look in looks], [look.private_bytes for look in looks]
    rising = sum(later > earlier for earlier, later in pairwise(sizes))
    if rising < RISING * (len(sizes) - 1):
        return False
    middle = len(sizes) // 2
    rates = [
        (sizes[to] - sizes[at]) / max(times[to] - times[at], 1e-9) for at, to in ((0, middle), (middle, len(sizes) - 1))
    ]
    return rates[0] > 0 and rates[1] >= LIKE_BEFORE * rates[0] and _correlation(times, sizes) ** 2 >= STRAIGHT


def _correlation(xs: Sequence[float], ys: Sequence[float]) -> float:
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    over = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
    under = (sum((x - mean_x) ** 2 for x in xs) * sum((y - mean_y) ** 2 for y in ys)) ** 0.5
    return over / under if under else 0.0

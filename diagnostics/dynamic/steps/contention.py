"""Who else uses the CPUs: threads of the job itself that are more than there are CPUs, or other programs. Pure.

Measured, not counted: for how long threads of the ranks were ready to run and had no CPU, and how busy the machine was
with what is not the job's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.steps.split import LEAST_LOOKS, Split, used

MUCH = 0.25  # of the CPUs, taken by others: what a rank lacks may be theirs
QUEUE = 2.0  # threads that wait for each CPU


@dataclass(frozen=True, slots=True, kw_only=True)
class Contention:
    """The CPUs during the steady steps. Shares are of all CPUs of the machine; None where nobody looked."""

    cpus: int
    job: float | None
    others: float | None
    idle: float | None
    stolen: float | None
    throttled: float | None  # seconds for each second

    @property
    def by_others(self) -> bool:
        """Whether other programs, or other virtual machines, take so much that the job's own share cannot be judged."""
        taken = [share for share in (self.others, self.stolen) if share is not None]
        return not taken or sum(taken) > MUCH


@dataclass(frozen=True, slots=True, kw_only=True)
class Oversubscription:
    """More threads that compute than CPUs. `lost` is the share of a step in which the main threads had no CPU."""

    splits: tuple[Split, ...]
    threads: int  # of one operation, of the rank that has most
    workers: int  # data workers of all ranks
    cpus: int
    lost: float
    wanted: int  # threads a rank, so that all fit
    waiting: float  # threads of the ranks that were ready to run and had no CPU, on average

    @property
    def crowds_itself(self) -> bool:
        """Whether the ranks' own threads alone are a queue, whatever else runs on the machine."""
        return self.waiting >= QUEUE * self.cpus


def contention(job: Job, splits: Sequence[Split]) -> Contention:
    """Returns who used the CPUs while the steady steps were made."""
    cpus = max((one.of.process.agent.timings.cpus for one in splits if one.of.process.agent is not None), default=0)
    none = Contention(cpus=cpus, job=None, others=None, idle=None, stolen=None, throttled=None)
    if not splits:
        return none
    windows = [one.of.window_s(job) for one in splits]
    from_s, to_s = max(one[0] for one in windows), min(one[1] for one in windows)
    inside = [one for one in job.usage.machine if from_s <= one.at_s <= to_s]
    if len(inside) < LEAST_LOOKS or inside[0].busy_s < 0:
        return none
    first, last = inside[0], inside[-1]
    busy, idle, stolen = (getattr(last, name) - getattr(first, name) for name in ("busy_s", "idle_s", "stolen_s"))
    total = busy + idle + stolen
    if total <= 0:
        return none
    seconds = last.at_s - first.at_s
    of_job = sum(used(looks, (first.at_s, last.at_s), "cpu_s") or 0.0 for looks in job.usage.processes.values())
    throttled = last.throttled_s - first.throttled_s if first.throttled_s >= 0 else None
    return Contention(
        cpus=cpus or round(total / seconds),
        job=of_job / total,
        others=max(0.0, busy - of_job) / total,
        idle=idle / total,
        stolen=stolen / total,
        throttled=throttled / seconds if throttled is not None else None,
    )


def oversubscription(splits: Sequence[Split], cpus: Contention) -> Oversubscription | None:
    """Returns threads that take the CPUs from each other, None where they fit, or nothing was measured."""
    if not splits or any(one.delay_s is None for one in splits):
        return None
    threads = [one.of.process.agent.timings.threads for one in splits if one.of.process.agent is not None]
    if not cpus.cpus or sum(threads) <= cpus.cpus:
        return None
    wanted = max(1, cpus.cpus // len(splits))
    if max(threads) <= wanted:
        return None
    lost = sum((one.delay_s or 0.0) / one.mean_s for one in splits if one.mean_s) / len(splits)
    workers = sum(len(one.of.process.agent.timings.stages) for one in splits if one.of.process.agent is not None)
    return Oversubscription(
        splits=tuple(splits),
        threads=max(threads),
        workers=workers,
        cpus=cpus.cpus,
        lost=min(1.0, lost),
        wanted=wanted,
        waiting=sum((one.all_delay_s or 0.0) / one.mean_s for one in splits if one.mean_s),
    )

"""Ranks that wait for data, and which stage of their loaders is slow. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from diagnostics.dynamic.job.job import Job, ProcessRole
from diagnostics.dynamic.samples.training_passes import RankLoader, training_loaders
from diagnostics.dynamic.steps.contention import Contention
from diagnostics.dynamic.steps.split import Split, used
from diagnostics.record.step_timings import Phase, WorkerStages

MOSTLY = 0.5
WAITS = 0.3  # of a worker's time on a CPU: below, it needs next to none of its own
MOST_WORKERS = 16  # that are advised


class LoaderStage(StrEnum):
    """What makes batches late."""

    READ = "reading samples: __getitem__ waits, for files or a network"
    DECODE = "computing samples: __getitem__ is on the CPU"
    COLLATE = "putting samples together: collate_fn"
    HAND_OVER = "handing batches over: the workers are idle, and the batches wait in queues, pinning or copies"
    UNKNOWN = "which cannot be told"


@dataclass(frozen=True, slots=True, kw_only=True)
class Starvation:
    """What waiting for data costs. `cost` is measured, `gain` an estimate: what more workers could take over."""

    splits: tuple[Split, ...]
    loader: RankLoader | None
    workers: int
    stage: LoaderStage
    cost: float  # the share of a step, on average over the ranks
    sure_cost: float  # of the step as it were if nobody had lacked a CPU; 0 where that is not known
    cpu_cost: (
        float  # of the CPU time of a step, where the ranks make their batches themselves: neighbours change nothing
    )
    wait_s: float  # in a step
    batch_s: float | None  # to make one batch
    batch_cpu_s: float | None
    wanted: int  # workers a rank that would keep up
    gain: float

    @property
    def lost_s(self) -> float:
        """What a rank waited in its steady steps."""
        return self.wait_s * len(self.splits[0].of.steps)


def starvation(job: Job, splits: Sequence[Split], cpus: Contention) -> Starvation | None:
    """Returns what waiting for data costs, None where nothing does."""
    if not splits:
        return None
    wait_s = sum(one.seconds(Phase.DATA) for one in splits) / len(splits)
    mean_s = sum(one.mean_s for one in splits) / len(splits)
    if wait_s <= 0 or mean_s <= 0:
        return None
    loader = _loader(splits)
    rows = _rows(splits, loader)
    workers = loader.source.number("workers") or 0 if loader is not None else 0
    batches = sum(row.batches for row in rows)
    batch_s = sum(row.fetch_s for row in rows) / batches if batches else None
    batch_cpu_s = sum(row.fetch_cpu_s for row in rows) / batches if batches else None
    rest_s = max(mean_s - wait_s, 1e-9)
    wanted = _wanted(batch_s, batch_cpu_s, rest_s, workers, len(splits), cpus)
    cost = wait_s / mean_s
    return Starvation(
        splits=tuple(splits),
        loader=loader,
        workers=workers,
        stage=_stage(rows, workers, splits),
        cost=cost,
        sure_cost=_sure_cost(job, splits, workers, wait_s, mean_s),
        cpu_cost=_cpu_cost(batch_cpu_s, workers, splits),
        wait_s=wait_s,
        batch_s=batch_s,
        batch_cpu_s=batch_cpu_s,
        wanted=wanted,
        gain=_gain(batch_s, wait_s, mean_s, workers, wanted),
    )


def _cpu_cost(batch_cpu_s: float | None, workers: int, splits: Sequence[Split]) -> float:
    busiest = max(one.cpu_s for one in splits)
    return min(1.0, batch_cpu_s / busiest) if batch_cpu_s is not None and not workers and busiest > 0 else 0.0


def _sure_cost(job: Job, splits: Sequence[Split], workers: int, wait_s: float, mean_s: float) -> float:
    """Returns the cost without the time in which the processes that make batches were ready to run and had no CPU."""
    delays = [one.delay_s for one in splits if one.delay_s is not None]
    if len(delays) < len(splits):
        return 0.0
    own_s = sum(delays) / len(delays)
    lacked_s = (
        sum(map(_lacked_at_most, splits)) / len(splits)
        if not workers
        else sum(_delay_of_workers(job, one) for one in splits) / len(splits)
    )
    rest_s = mean_s - max(own_s, lacked_s)
    return max(0.0, wait_s - lacked_s) / rest_s if rest_s > 0 else 0.0


def _lacked_at_most(one: Split) -> float:
    """Returns for how long a rank may have lacked a CPU while it waited for data: not what it lacked in computing."""
    steps = one.of.steps
    phases = (Phase.FORWARD,) if one.waits_in_backward else (Phase.FORWARD, Phase.BACKWARD)
    cpu_s = sum(
        step.forward_cpu_s + (step.backward_cpu_s if Phase.BACKWARD in phases else 0.0) for step in steps
    ) / len(steps)
    computing = max(0.0, sum(map(one.of.mean, phases)) - cpu_s)
    return max(0.0, (one.delay_s or 0.0) - computing)


def _delay_of_workers(job: Job, one: Split) -> float:
    """Returns for how long a data worker of a rank, on average, was ready and had no CPU in one step."""
    window = one.of.window_s(job)
    lacked = [
        (used(looks, (max(window[0], looks[0].at_s), min(window[1], looks[-1].at_s)), "delayed_s") or 0.0)
        / max(looks[-1].at_s - looks[0].at_s, 1e-9)
        for worker in job.children_of(one.of.process)
        if worker.part is ProcessRole.DATA_WORKER
        and (looks := job.usage.processes.get(f"{worker.pid}-{worker.start_ticks}", ()))
    ]
    return one.mean_s * sum(lacked) / len(lacked) if lacked else 0.0


def _loader(splits: Sequence[Split]) -> RankLoader | None:
    """Returns the loader over which the first rank trained most."""
    found = training_loaders(splits[0].of.process)
    return max(found, key=lambda one: sum(told.trained for told in one.passes), default=None)


def _rows(splits: Sequence[Split], loader: RankLoader | None) -> list[WorkerStages]:
    number = loader.source.number("stages") if loader is not None else None
    return [
        row
        for one in splits
        for row in (one.of.process.agent.timings.stages if one.of.process.agent is not None else ())
        if row.loader == number
    ]


def _stage(rows: Sequence[WorkerStages], workers: int, splits: Sequence[Split]) -> LoaderStage:
    if not rows:
        return LoaderStage.UNKNOWN
    fetch, cpu = sum(row.fetch_s for row in rows), sum(row.fetch_cpu_s for row in rows)
    collate = sum(row.collate_s for row in rows)
    busy = [row.busy for row in rows if row.busy is not None]
    if workers and busy and sum(busy) / len(busy) < MOSTLY:
        return LoaderStage.HAND_OVER
    if collate > MOSTLY * fetch:
        return LoaderStage.COLLATE
    # What is on the CPU lacks it as often as the rank itself does: only what is left is waiting for files.
    lacks = [one.delay_s / one.cpu_s for one in splits if one.delay_s is not None and one.cpu_s]
    computing = cpu * (1 + (sum(lacks) / len(lacks) if lacks else 0.0))
    return LoaderStage.DECODE if computing > MOSTLY * fetch else LoaderStage.READ


def _wanted(
    batch_s: float | None, batch_cpu_s: float | None, rest_s: float, workers: int, ranks: int, cpus: Contention
) -> int:
    """Returns how many workers a rank would need, as far as there are CPUs for what they compute."""
    if batch_s is None or batch_cpu_s is None:
        return workers
    needed = int(batch_s / rest_s) + 1
    share = batch_cpu_s / batch_s if batch_s else 1.0
    room = MOST_WORKERS if share < WAITS else int((cpus.idle or 0.0) * cpus.cpus / ranks / share + 0.5)
    return max(workers, min(needed, room, MOST_WORKERS))


def _gain(batch_s: float | None, wait_s: float, mean_s: float, workers: int, wanted: int) -> float:
    """Returns the share of a step that so many workers would take away."""
    if batch_s is None or wanted <= workers:
        return 0.0
    rest_s = mean_s - wait_s
    return max(0.0, min(1.0, (mean_s - max(rest_s, batch_s / wanted)) / mean_s))

"""Data workers of one rank that each read the whole of an IterableDataset. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.samples.training_passes import RankLoader, training_loaders
from diagnostics.record.batch_data import BatchPrint, LoaderPass

LEAST_SAMPLES = 16  # of one worker, that differ from each other


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedByWorkers:
    """Ranks whose workers each handed over the same samples; `shown` are the batches of each worker of the first."""

    loaders: tuple[RankLoader, ...]
    workers: int
    in_order: bool  # batch by batch, and not only the same ones in the end
    samples: int
    shown: tuple[tuple[BatchPrint, ...], ...]


def repeated_by_workers(job: Job) -> RepeatedByWorkers | None:
    """Returns the ranks whose workers repeat each other, None where each reads a part."""
    found = [one for process in job.ranks for loader in training_loaders(process) if (one := _of(loader)) is not None]
    alike = [one for one in found if one.loaders[0].key == found[0].loaders[0].key]
    if not alike:
        return None
    first = alike[0]
    return RepeatedByWorkers(
        loaders=tuple(one.loaders[0] for one in alike),
        workers=first.workers,
        in_order=first.in_order,
        samples=first.samples,
        shown=first.shown,
    )


def _of(loader: RankLoader) -> RepeatedByWorkers | None:
    workers = loader.source.number("workers") or 0
    if loader.source.facts.get("kind") != "iterable" or workers < 2:
        return None
    for one in loader.passes:
        by_worker = [_of_worker(one, number, workers) for number in range(workers)]
        prints = [[value for batch in batches for value in batch.samples] for batches in by_worker]
        shortest = min(map(len, by_worker))
        in_order = all(
            [batch.whole for batch in batches[:shortest]] == [batch.whole for batch in by_worker[0][:shortest]]
            for batches in by_worker
        )
        cut = [[value for batch in batches[:shortest] for value in batch.samples] for batches in by_worker]
        if not in_order and not (one.is_whole and all(sorted(values) == sorted(prints[0]) for values in prints)):
            continue
        if min(len(set(values)) for values in cut) >= LEAST_SAMPLES:
            return RepeatedByWorkers(
                loaders=(loader,),
                workers=workers,
                in_order=in_order,
                samples=len(set(cut[0])),
                shown=tuple(tuple(batches) for batches in by_worker),
            )
    return None


def _of_worker(one: LoaderPass, number: int, workers: int) -> list[BatchPrint]:
    """Returns the batches of one worker: workers take turns."""
    return [batch for batch in one.log if batch.number % workers == number and not batch.unread]

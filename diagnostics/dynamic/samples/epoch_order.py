"""Epochs of one training that go over the samples in one and the same order, though they are to be shuffled. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.samples.training_passes import RankLoader, training_loaders
from diagnostics.record.batch_data import BatchPrint, LoaderPass

LEAST_BATCHES = 2  # in a pass: the order within one batch changes nothing
ENOUGH_PASSES = 3  # where the first was not gone over to its end
LEAST_SAMPLES = 16  # so few have the same order twice by chance once in 10^13


class Repeats(Enum):
    """Why two epochs have one order."""

    NEVER_SET = "set_epoch is never called"
    OTHER_SAMPLER = "set_epoch is called on another sampler"
    SET_LATE = "set_epoch is called after the iterator was made"
    SET_ALIKE = "set_epoch is given the same epoch"
    NOT_IN_WORKERS = "set_epoch does not reach the persistent workers"
    SEEDED_ALIKE = "the random numbers are seeded alike before each epoch"


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedOrder:
    """Two epochs of some ranks over one line's loader that had the same order."""

    why: Repeats
    loaders: tuple[RankLoader, ...]  # one a rank
    passes: tuple[LoaderPass, LoaderPass]  # of the first of them
    batches: int
    samples: int
    indexed: bool  # by the indices that the sampler gave, and not only by what the samples hold


def repeated_order(job: Job) -> RepeatedOrder | None:
    """Returns the epochs that repeat their order, on all ranks that show it; None where each is shuffled anew."""
    found: list[RepeatedOrder] = []
    for process in job.ranks:
        for loader in training_loaders(process):
            found += list(_repeats(loader))[:1]
    if not found:
        return None
    first = found[0]
    alike = [one for one in found if one.loaders[0].key == first.loaders[0].key and one.why is first.why]
    return RepeatedOrder(
        why=first.why,
        loaders=tuple(one.loaders[0] for one in alike),
        passes=first.passes,
        batches=first.batches,
        samples=first.samples,
        indexed=first.indexed,
    )


def _repeats(loader: RankLoader) -> Iterator[RepeatedOrder]:
    for one, other in pairwise(loader.passes):
        if other.number != one.number + 1 or one.optimizer != other.optimizer:
            continue  # of another training: k-fold, a sweep in one process
        if not one.ended and len(loader.passes) < ENOUGH_PASSES:
            continue  # some first steps to warm up
        same = _same(one, other)
        why = _why(loader, one, other)
        if same is not None and why is not None:
            samples = {value for batch in same for value in (batch.indices if one.indexed else batch.samples)}
            if len(same) >= LEAST_BATCHES and len(samples) >= LEAST_SAMPLES:
                yield RepeatedOrder(
                    why=why,
                    loaders=(loader,),
                    passes=(one, other),
                    batches=len(same),
                    samples=len(samples),
                    indexed=one.indexed,
                )


def _same(one: LoaderPass, other: LoaderPass) -> tuple[BatchPrint, ...] | None:
    """Returns the batches that came in the same places in both, None where one differs."""
    theirs = {batch.number: batch for batch in other.log}
    both = [(batch, theirs[batch.number]) for batch in one.log if batch.number in theirs]
    indexed = one.indexed and other.indexed
    for mine, its in both:
        if (mine.listed != its.listed or not mine.listed) if indexed else (mine.whole != its.whole or mine.unread):
            return None
    if one.is_whole and other.is_whole and indexed and one.index_order != other.index_order:
        return None
    return tuple(mine for mine, _ in both)


def _why(loader: RankLoader, one: LoaderPass, other: LoaderPass) -> Repeats | None:
    facts = loader.source.facts
    if facts.get("kind") == "iterable":
        kept = facts.get("persistent") == "1" and facts.get("workers", "0") != "0"
        return Repeats.NOT_IN_WORKERS if kept and facts.get("follows_epoch") == "1" else None
    if one.epoch is not None and other.epoch is not None and facts.get("shuffle") != "0":
        to_shuffle = facts.get("shuffle") == "1" or facts.get("follows_epoch") == "1"
        if not to_shuffle or one.epoch != other.epoch:
            return None  # a sampler of the job's own, of which nothing says that it is to shuffle
        if not other.own_epoch_calls:
            return Repeats.OTHER_SAMPLER if other.other_epoch_calls else Repeats.NEVER_SET
        if not one.own_epoch_calls or other.own_epoch_calls == one.own_epoch_calls:
            return None  # some first steps before the epochs, or several looks into one epoch
        return Repeats.SET_LATE if other.epoch_now != other.epoch else Repeats.SET_ALIKE
    if facts.get("sampler") == "RandomSampler" and facts.get("replacement") == "0":
        return Repeats.SEEDED_ALIKE
    return None

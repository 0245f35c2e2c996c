"""Ranks that train one model and read the same samples: in the same order, each of them all, or some. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.samples.epochs_apart import epochs_apart
from diagnostics.dynamic.samples.gradient_sharing import BY_HAND, GradientGroup, gradient_pairs
from diagnostics.dynamic.samples.model_ways import take_other_ways
from diagnostics.dynamic.samples.training_passes import RankLoader, trained_batches, training_loaders, world_of
from diagnostics.dynamic.samples.worker_random import draws_samples
from diagnostics.record.batch_data import BatchPrint, LoaderPass, SourceKind

LEAST_BATCHES = 4  # that differ from each other: fewer are an overfit on purpose, or a data set of a batch
SURE_BATCHES = 8
ALIKE = 0.95  # of the batches that both ranks read; a last one may be shorter
LEAST_SAMPLES = 16
LEAST_SHARE = 0.1  # of one rank's samples: sampler padding and single doubles are less
READ_AGAIN = 0.7  # of what a model is given in all is new, at most, where it goes over a data set
DISTINCT = 0.9  # of the prints of one rank: else they are too poor to tell samples apart


_Both = tuple[tuple[BatchPrint, ...], tuple[BatchPrint, ...]]


class SampleSharing(Enum):
    """How two ranks share what they read."""

    SAME_ORDER = "same order"
    SAME_SET = "same set"
    PART = "part"


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedSamples:
    """Ranks that read the same; `loaders` are theirs, of one line, and `shown` batches of each, side by side."""

    how: SampleSharing
    group: GradientGroup
    loaders: tuple[RankLoader, ...]
    number: int  # of the pass
    batches: int  # that were compared, or read
    samples: int  # that differ from each other; of PART those that both read
    read: int  # samples that the first of them read
    shown: tuple[tuple[BatchPrint, ...], ...]
    sure: bool


def shared_samples(job: Job) -> SharedSamples | None:
    """Returns the ranks that read the same samples, those in the same order first; None where each reads its own."""
    found = list(_pairs(job))
    found.sort(key=lambda one: list(SampleSharing).index(one.how))
    if not found:
        return None
    first = found[0]
    alike = [one for one in found if one.how is first.how and one.loaders[0].key == first.loaders[0].key]
    return _joined(first, alike)


def _joined(first: SharedSamples, alike: Sequence[SharedSamples]) -> SharedSamples:
    """Returns one finding about all ranks that share with the first one of it."""
    lead = first.loaders[0].rank
    rest = [one for one in alike if one.loaders[0].rank == lead and one.number == first.number]
    return SharedSamples(
        how=first.how,
        group=first.group,
        loaders=(first.loaders[0], *(one.loaders[1] for one in rest)),
        number=first.number,
        batches=min(one.batches for one in rest),
        samples=min(one.samples for one in rest),
        read=first.read,
        shown=(first.shown[0], *(one.shown[1] for one in rest)),
        sure=all(one.sure for one in rest),
    )


def _pairs(job: Job) -> Iterator[SharedSamples]:
    read = {process.rank: {one.key: one for one in training_loaders(process)} for process in job.ranks}
    for one, other, group, parts in gradient_pairs(job):
        if one.agent is not None and other.agent is not None and take_other_ways(one.agent, other.agent):
            continue
        for key, mine in read[one.rank].items():
            theirs = read[other.rank].get(key)
            if theirs is None or (parts and not _divide(mine, theirs)):
                continue
            if not _is_small(mine, job) and not _is_made_up(mine, job):
                found = _compared(mine, theirs, group)
                yield from (one for one in found if not _are_drawn_alike(one, job))


def _divide(mine: RankLoader, theirs: RankLoader) -> bool:
    """Whether their samplers are told that they divide the data: then no model in parts is why they read the same.

    Ranks that hold parts of one model are told one rank of the data. What contrastive losses gather looks like parts.
    """
    told = [(one.source.number("sampler_rank"), one.source.number("num_replicas")) for one in (mine, theirs)]
    return None not in (*told[0], *told[1]) and told[0][0] != told[1][0] and told[0][1] == told[1][1]


def _is_small(loader: RankLoader, job: Job) -> bool:
    """Whether the data set has less than a batch for each rank and one more: then it is the same by need."""
    length, size = loader.source.number("length"), loader.source.number("batch_size") or 1
    return length is not None and length <= size * world_of(job)


def _is_made_up(loader: RankLoader, job: Job) -> bool:
    """Whether a stream draws its samples: a seed makes them equal on all ranks, and there is no data to divide."""
    first = loader.source.passes[:2]
    again = len(first) == 2 and all(one.is_whole for one in first) and first[0].total == first[1].total
    return loader.source.facts.get("kind") == "iterable" and not again and draws_samples(job, loader)


def _are_drawn_alike(found: SharedSamples, job: Job) -> bool:
    """Whether samples are equal where they stand at one place with indices of their own, for random numbers make them.

    Ranks whose generators begin alike draw the same for the n-th sample, whichever it is. A sample that both ranks
    have in their data has one place by its sampler on each, and these differ.
    """
    whole = found.how is SampleSharing.PART or draws_samples(job, found.loaders[0])
    if found.how is SampleSharing.SAME_SET or not whole:
        return False
    theirs = {batch.number: batch for batch in found.shown[1]}
    both = [
        (one, other)
        for first in found.shown[0]
        if first.number in theirs
        for one, other in zip(_placed(first), _placed(theirs[first.number]), strict=False)
    ]
    alike = {one[1] for one, other in both if one[1] == other[1] and min(one[0], other[0]) >= 0 and one[0] != other[0]}
    return len(alike) >= DISTINCT * found.samples


def _placed(batch: BatchPrint) -> Iterator[tuple[int, int]]:
    """Yields (index, print) of each sample of a batch."""
    return zip(batch.indices, batch.samples, strict=False)


def _compared(mine: RankLoader, theirs: RankLoader, group: GradientGroup) -> Iterator[SharedSamples]:
    others = {one.number: one for one in theirs.passes}
    for one in mine.passes:
        other = others.get(one.number)
        if other is None:
            continue
        how, found = _how(mine, theirs, one, other)
        if how is not None:
            first, second = found
            both = _common(mine, theirs, one.number, first, second) if how is SampleSharing.PART else _distinct(first)
            yield SharedSamples(
                how=how,
                group=group,
                loaders=(mine, theirs),
                number=one.number,
                batches=len(first),
                samples=len(both),
                read=len(_distinct(first)),
                shown=(first, second),
                sure=how is SampleSharing.SAME_ORDER and len(first) >= SURE_BATCHES and group.how != BY_HAND,
            )
            return


def _how(
    loader: RankLoader, others: RankLoader, one: LoaderPass, other: LoaderPass
) -> tuple[SampleSharing | None, _Both]:
    """Returns how two passes share samples, and the batches of each that show it."""
    if loader.source.kind is SourceKind.INPUT and not _is_read_again(one):
        return None, ((), ())
    found = _same_order(one, other)
    if found is not None:
        return SampleSharing.SAME_ORDER, found
    mine, theirs = trained_batches(one), trained_batches(other)
    both_whole = one.is_whole and other.is_whole and len(mine) == one.batches and len(theirs) == other.batches
    drawn = loader.source.facts.get("replacement") == "1"
    if not both_whole or drawn or not (_tell_apart(one, mine) and _tell_apart(other, theirs)):
        return None, ((), ())
    if one.total == other.total and one.rows == other.rows:
        return SampleSharing.SAME_SET, (mine, theirs)
    shared = len(_common(loader, others, one.number, mine, theirs))
    least = max(LEAST_SAMPLES, LEAST_SHARE * min(one.rows, other.rows))
    return (SampleSharing.PART, (mine, theirs)) if shared >= least else (None, ((), ()))


def _common(
    loader: RankLoader, others: RankLoader, number: int, mine: Sequence[BatchPrint], theirs: Sequence[BatchPrint]
) -> set[int]:
    """Returns the samples that both read: by their prints, or by their indices where no two views of one are alike.

    Of indices nothing is concluded but where the samplers are to divide the data and stand at different epochs: a data
    set of each rank's own begins at 0 as well.
    """
    both = _distinct(mine) & _distinct(theirs)
    if both or not _divide(loader, others) or epochs_apart((loader, others), number) is None:
        return both
    return _indices(mine) & _indices(theirs)


def _same_order(one: LoaderPass, other: LoaderPass) -> _Both | None:
    mine = {batch.number: batch for batch in trained_batches(one)}
    theirs = {batch.number: batch for batch in trained_batches(other)}
    common = sorted(mine.keys() & theirs.keys())
    same = [number for number in common if mine[number].whole == theirs[number].whole]
    first = tuple(mine[number] for number in same)
    if len({batch.whole for batch in first}) < LEAST_BATCHES or not _are_told_apart(first):
        return None
    if len(same) < ALIKE * max(len(common), ALIKE * min(len(mine), len(theirs))):
        return None
    return first, tuple(theirs[number] for number in same)


def _is_read_again(one: LoaderPass) -> bool:
    """Whether samples come again and again, as those of a data set do: fresh random numbers never do."""
    prints = [value for batch in trained_batches(one) for value in batch.samples]
    return len(set(prints)) <= len(prints) * READ_AGAIN


def _tell_apart(one: LoaderPass, batches: Sequence[BatchPrint]) -> bool:
    """Whether the prints of a whole pass are one for each sample, and each sample came once."""
    return len(batches) >= LEAST_BATCHES and len(_distinct(batches)) >= max(LEAST_SAMPLES, DISTINCT * one.rows)


def _are_told_apart(batches: Sequence[BatchPrint]) -> bool:
    """Whether the samples of a rank differ from each other, and are more than a few batches."""
    rows = max(batch.rows for batch in batches)
    return len(_distinct(batches)) >= max(LEAST_SAMPLES, 2 * min(rows, 128)) or not any(
        batch.samples for batch in batches
    )


def _indices(batches: Sequence[BatchPrint]) -> set[int]:
    return {index for batch in batches for index in batch.indices if index >= 0}


def _distinct(batches: Sequence[BatchPrint]) -> set[int]:
    return {value for batch in batches for value in batch.samples}

"""A loader that the program calls one for validation or test, and that hands over the training samples. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.samples.gradient_sharing import gradient_groups
from diagnostics.dynamic.samples.loader_lines import dataset_words, name_of
from diagnostics.dynamic.samples.training_passes import RankLoader, loaders, trains
from diagnostics.record.batch_data import BatchPrint, LoaderPass

LEAST_SAMPLES = 16
CONTAINED = 0.9  # of the samples for validation that are among those for training
SPLIT_ANEW = 0.5  # of them, where training samples never repeat: a set that was split twice has a part in common
DISTINCT = 0.9  # of their prints: else they are too poor to tell samples apart
# A name that says another split than the one for training: "val_loader", "self.test_dl", "dev", "holdout".
_HELD_OUT = re.compile(r"(?:^|[^a-z])(?:val|valid|validation|test|testing|dev|held_?out)(?:[^a-z]|$)", re.IGNORECASE)
_TRAINING = re.compile(r"train", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedValidation:
    """Ranks whose loader for validation hands over what is trained on."""

    loaders: tuple[RankLoader, ...]
    training: RankLoader
    name: str  # as the program calls it
    samples: int  # of the first rank's, that are trained on
    of: int
    shown: tuple[BatchPrint, ...]


def trained_validation(job: Job) -> TrainedValidation | None:
    """Returns the ranks that validate on training samples, None where no loader that says so does."""
    every = {process.rank: tuple(loaders(process)) for process in job.ranks}
    found = [one for own in every.values() for loader in own if (one := _of(job, loader, own, every)) is not None]
    if not found:
        return None
    first = found[0]
    return TrainedValidation(
        loaders=tuple(one.loaders[0] for one in found if one.loaders[0].key == first.loaders[0].key),
        training=first.training,
        name=first.name,
        samples=first.samples,
        of=first.of,
        shown=first.shown,
    )


def _of(
    job: Job, loader: RankLoader, own: Sequence[RankLoader], every: dict[int | None, tuple[RankLoader, ...]]
) -> TrainedValidation | None:
    name = name_of(job, loader)
    if not _HELD_OUT.search(name) or _TRAINING.search(name) or any(map(trains, loader.source.passes)):
        return None
    judged, training = _judged(loader, own)
    if judged is None or not training:
        return None
    trained, once = _trained(loader.process, training, every)
    if not _is_one_of_several(job, loader) and len(set(once)) >= DISTINCT * len(once):
        least = SPLIT_ANEW
    else:
        least = CONTAINED  # equal samples, or folds: some in common are no wonder
    shown = _printed(judged)
    prints = [value for batch in shown for value in batch.samples]
    among = len(set(prints) & trained)
    if among < max(LEAST_SAMPLES, least * len(set(prints))) or len(set(prints)) < DISTINCT * len(prints):
        return None
    words = dataset_words(job, loader)
    if _HELD_OUT.search(words) and _TRAINING.search(words):
        return None  # "train_val_set": one set by its name
    return TrainedValidation(
        loaders=(loader,), training=training[0][0], name=name, samples=among, of=len(set(prints)), shown=shown
    )


def _judged(
    loader: RankLoader, own: Sequence[RankLoader]
) -> tuple[LoaderPass | None, tuple[tuple[RankLoader, LoaderPass], ...]]:
    """Returns the first pass of a loader that has training before it, and the passes that trained what it judges.

    Those went straight before it: in a cross-validation what other folds trained on, and in tests of what is trained
    on next the passes after it, are none of its model's.
    """
    passes = sorted(((one, each) for each in own for one in each.source.passes), key=lambda pair: pair[0].began_s)
    for judged in loader.source.passes:
        before = [(each, one) for one, each in passes if one.began_s <= judged.began_s and each is not loader]
        while before and not trains(before[-1][1]):
            before.pop()  # another loader that is not trained on: for tests, beside the one for validation
        straight = list(takewhile(lambda pair: trains(pair[1]), reversed(before)))
        if straight and _printed(judged):
            sources = {id(each.source) for each, _ in straight}
            return judged, tuple(pair for pair in before if id(pair[0].source) in sources and trains(pair[1]))
    return None, ()


def _trained(
    process: JobProcess,
    training: Sequence[tuple[RankLoader, LoaderPass]],
    every: dict[int | None, tuple[RankLoader, ...]],
) -> tuple[set[int], list[int]]:
    """Returns the samples of these passes, on ranks that train the same model too, and those of first passes."""
    latest: dict[tuple[tuple[Frame, ...], int], int] = {}
    for each, one in training:
        latest[each.key] = max(one.number, latest.get(each.key, 0))
    ranks = {process.rank}.union(*(group.ranks for group in gradient_groups(process)))
    read = [
        one
        for rank in ranks
        for each in every.get(rank, ())
        for one in each.source.passes
        if one.number <= latest.get(each.key, -1) and trains(one)
    ]
    trained = {value for one in read for batch in _printed(one) for value in batch.samples}
    return trained, [value for one in read if not one.number for batch in _printed(one) for value in batch.samples]


def _is_one_of_several(job: Job, loader: RankLoader) -> bool:
    """Whether its line built more loaders in a process: one for each fold, or for each trial."""
    every = (one for process in job.ranks for one in loaders(process))
    return any(one.index for one in every if one.source.built == loader.source.built)


def _printed(one: LoaderPass) -> tuple[BatchPrint, ...]:
    """Returns what was printed of a pass."""
    return tuple(batch for batch in one.log if not batch.constant)

"""A loader that the program calls one for validation or test, and that hands over the training samples. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.samples.loader_lines import dataset_words, name_of
from diagnostics.dynamic.samples.training_passes import RankLoader, loaders, trains
from diagnostics.record.batch_data import BatchPrint

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
    every = [loader for process in job.ranks for loader in loaders(process)]
    training = [loader for loader in every if loader.passes]
    trained = {value for loader in training for batch in _first(loader) for value in batch.samples}
    found = [one for loader in every if (one := _of(job, loader, training, trained)) is not None]
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


def _of(job: Job, loader: RankLoader, training: list[RankLoader], trained: set[int]) -> TrainedValidation | None:
    name = name_of(job, loader)
    if not training or not _HELD_OUT.search(name) or _TRAINING.search(name):
        return None
    if any(map(trains, loader.source.passes)):
        return None
    once = [value for one in training for value in _of_first(one)]
    if not _is_one_of_several(job, loader) and len(set(once)) >= DISTINCT * len(once):
        least = SPLIT_ANEW
    else:
        least = CONTAINED  # equal samples, or folds: some in common are no wonder
    shown = tuple(_first(loader))
    prints = [value for batch in shown for value in batch.samples]
    among = len(set(prints) & trained)
    if among < max(LEAST_SAMPLES, least * len(set(prints))) or len(set(prints)) < DISTINCT * len(prints):
        return None
    words = dataset_words(job, loader)
    if _HELD_OUT.search(words) and _TRAINING.search(words):
        return None  # "train_val_set": one set by its name
    return TrainedValidation(
        loaders=(loader,), training=training[0], name=name, samples=among, of=len(set(prints)), shown=shown
    )


def _is_one_of_several(job: Job, loader: RankLoader) -> bool:
    """Whether its line built more loaders in a process: one for each fold, or for each trial."""
    every = (one for process in job.ranks for one in loaders(process))
    return any(one.index for one in every if one.source.built == loader.source.built)


def _of_first(loader: RankLoader) -> Iterator[int]:
    """Yields the prints of the samples of the first pass."""
    yield from (value for batch in _first(loader) for value in batch.samples)


def _first(loader: RankLoader) -> Iterator[BatchPrint]:
    """Yields what was printed of the first pass."""
    for one in loader.source.passes[:1]:
        yield from (batch for batch in one.log if not batch.constant)

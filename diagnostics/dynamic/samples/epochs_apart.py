"""Ranks that tell their samplers unlike epochs: each cuts its part out of an order of its own. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.dynamic.samples.training_passes import RankLoader
from diagnostics.record.batch_data import LoaderPass


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochsApart:
    """The epoch of each rank's sampler in one pass, (rank, epoch), and where set_epoch was called for it."""

    epochs: tuple[tuple[int, int], ...]
    called: tuple[Frame, ...]  # the user's, innermost first


def epochs_apart(loaders: Sequence[RankLoader], number: int) -> EpochsApart | None:
    """Returns the epochs of this pass by rank, None where they are equal or not all known."""
    found = [(loader, one) for loader in loaders if (one := _pass(loader, number)) is not None]
    epochs = [(loader.rank, one.epoch) for loader, one in found if one.epoch is not None]
    if len(epochs) < len(loaders) or len({epoch for _, epoch in epochs}) == 1:
        return None
    # Rank 0 may well have said what the others should: any call will do for the line, and one that was made is best.
    paths = (user_frames(one.epoch_path, agent_folder=loader.process.agent_folder) for loader, one in found)
    return EpochsApart(epochs=tuple(epochs), called=next((path for path in paths if path), ())[:1])


def _pass(loader: RankLoader, number: int) -> LoaderPass | None:
    return next((one for one in loader.source.passes if one.number == number), None)

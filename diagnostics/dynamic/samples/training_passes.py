"""The passes of a rank over its loaders that trained a model on whole batches. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.record.batch_data import BatchPrint, BatchSource, LoaderPass

WHOLE = 0.9  # of the rows of its batches that a model must be given: else each rank takes its share of a batch


@dataclass(frozen=True, slots=True, kw_only=True)
class RankLoader:
    """One source of one rank; `index` counts the sources that the same line built."""

    process: JobProcess
    source: BatchSource
    index: int

    @property
    def rank(self) -> int:
        """The rank that read from it."""
        return self.process.rank if self.process.rank is not None else -1

    @property
    def key(self) -> tuple[tuple[Frame, ...], int]:
        """What the loaders of one line of the program have in common on all ranks."""
        return self.source.built, self.index

    @property
    def passes(self) -> tuple[LoaderPass, ...]:
        """Those in which a model was trained."""
        return tuple(one for one in self.source.passes if trains(one))

    def built_at(self) -> tuple[Frame, ...]:
        """The frames of the user's where it was built, innermost first."""
        return user_frames(self.source.built, agent_folder=self.process.agent_folder)

    def sampler_at(self) -> tuple[Frame, ...]:
        """The frames of the user's where its sampler was built."""
        return user_frames(self.source.sampler, agent_folder=self.process.agent_folder)


def training_loaders(process: JobProcess) -> tuple[RankLoader, ...]:
    """Returns the loaders over which this rank trained."""
    return tuple(one for one in loaders(process) if one.passes)


def loaders(process: JobProcess) -> Iterator[RankLoader]:
    """Yields all loaders of this rank."""
    seen: dict[tuple[Frame, ...], int] = {}
    for source in process.agent.sources if process.agent is not None else ():
        index = seen[source.built] = seen.get(source.built, -1) + 1
        yield RankLoader(process=process, source=source, index=index)


def trains(one: LoaderPass) -> bool:
    """Whether optimizers stepped in this pass, and a model was given its batches with gradients on."""
    return one.steps > 0 and 2 * one.trained > one.batches - 1  # what was handed over last may not be used yet


def trained_batches(one: LoaderPass) -> tuple[BatchPrint, ...]:
    """Returns the batches of a pass that were printed and that the model was given whole; () where it got shares."""
    used = [batch for batch in one.log if batch.trained and not batch.unread and batch.rows]
    if sum(batch.given for batch in used) < WHOLE * sum(batch.rows for batch in used):
        return ()
    return tuple(batch for batch in used if not batch.constant)


def world_of(job: Job) -> int:
    """Returns how many ranks the job has, at least 1."""
    return max(len(job.ranks), job.world_size or 1)

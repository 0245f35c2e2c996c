"""An epoch of the training yields no batch, while others over the same loader yield all.

What it does: looks at the passes over a loader that trained. Told is a pass that came to its end without a batch behind
one that had some; and a first one, in a process that was started later in the job, where the sampler's epoch is one
that no process had trained before.

Why it matters: the epoch is counted, logged and not trained. It is what a sampler does that goes on from a position
and keeps it in the next epoch, and a state of it that was saved when it had handed out everything.

Left alone: the rest of an epoch that is over, when a run goes on in it; streams that come to their end; loaders that
give nothing in any pass (D516).

Fix: put the position back where an epoch begins, in `set_epoch` or behind the last index.

Bad:

    def __iter__(self):
        for index in self.indices()[self.position:]:
            self.position += 1
            yield index

Good:

    def __iter__(self):
        first, self.position = self.position, 0
        for index in self.indices()[first:]:
            self.position += 1
            yield index
        self.position = 0
"""

from __future__ import annotations

from itertools import pairwise

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.samples.loader_lines import iterated_at
from diagnostics.dynamic.samples.training_passes import RankLoader, loaders
from diagnostics.record.batch_data import LoaderPass

CODE = "D967"
NAME = "epoch-without-batches"
CLASS = "loader-empty"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True


def match(job: Job) -> Match | None:
    """Returns the ranks of which an epoch gave nothing."""
    found = [
        (loader, empty)
        for process in job.ranks
        for loader in loaders(process)
        if loader.source.facts.get("kind") == "map" and loader.passes and (empty := _empty(job, loader)) is not None
    ]
    if not found:
        return None
    loader, empty = found[0]
    full = loader.passes[0]
    which = f"epoch {empty.epoch}" if empty.epoch is not None else f"pass {empty.number + 1}"
    sampler = loader.source.facts.get("sampler", "sampler")
    return training_match(
        job,
        [one.process for one, _ in found if one.key == loader.key],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"The training loader yields no batch in {which}, and {full.batches} in another: the {sampler} gives no "
        "index, and the epoch is over at once",
        evidence=[
            Evidence(
                source=f"rank {loader.rank}, pass {one.number + 1}{_epoch(one)}: batches, steps",
                observed=f"{one.batches}, {one.steps}",
                expected="" if one.batches else f"{full.batches}",
            )
            for one in loader.source.passes[:4]
        ],
        fix=f"have the {sampler} begin each epoch at its first index: a position that is restored counts in the epoch "
        "that it was saved in, and is 0 where that was over",
        places=(*iterated_at(loader)[:1], *loader.sampler_at()[:1], *loader.built_at()[:1]),
        confidence=Confidence.CONFIRMED,
    )


def _empty(job: Job, loader: RankLoader) -> LoaderPass | None:
    """Returns the first pass that should have had batches."""
    passes = loader.source.passes
    later = [one for before, one in pairwise(passes) if before.batches and before.ended and _is_empty(one)]
    if later:
        return later[0]
    first = passes[0]
    return first if _is_empty(first) and _is_new(job, loader, first) else None


def _is_empty(one: LoaderPass) -> bool:
    return one.ended and not one.batches


def _is_new(job: Job, loader: RankLoader, one: LoaderPass) -> bool:
    """Whether this rank had trained the epochs before this one, in a process that ended, and not this one."""
    trained = {
        other.epoch
        for process in job.processes
        if process.pid != loader.process.pid and process.rank == loader.rank
        for source in loaders(process)
        for other in source.passes
    }
    return one.epoch is not None and one.epoch - 1 in trained and one.epoch not in trained


def _epoch(one: LoaderPass) -> str:
    return f" (epoch {one.epoch})" if one.epoch is not None else ""

"""Loaders of which each pass hands over one batch and is left: `next(iter(loader))` in each step. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from diagnostics.dynamic.job.job import JobProcess
from diagnostics.dynamic.samples.training_passes import RankLoader, loaders, trains
from diagnostics.record.batch_data import SourceKind

LEAST_PASSES = 20
LEAST_PRINTS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartedLoader:
    """One that trains a model by the first batch of each of its passes."""

    loader: RankLoader
    passes: int
    rows: int  # of such a batch
    samples: int  # of its data set; 0 unknown
    same: bool  # each print that was made of these batches is the same

    @property
    def workers(self) -> int:
        """Its data workers, which are started for each batch."""
        return self.loader.source.number("workers") or 0


def restarted_loader(process: JobProcess) -> RestartedLoader | None:
    """Returns the loader that is begun anew for each batch; not one that has no more than that batch."""
    for loader in loaders(process):
        passes = loader.source.passes[:-1]  # the last one may go on
        if loader.source.kind is not SourceKind.LOADER or len(passes) < LEAST_PASSES:
            continue
        used = [one for one in passes if trains(one)]
        if any(one.ended or one.batches != 1 for one in passes) or 2 * len(used) < len(passes):
            continue
        rows = max(one.rows for one in passes)
        samples = loader.source.number("length") or 0
        if samples and samples <= rows:
            continue
        prints = [batch.whole for one in passes for batch in one.log if batch.whole and not batch.constant]
        same = len(prints) >= LEAST_PRINTS and len(set(prints)) == 1
        return RestartedLoader(loader=loader, passes=len(passes), rows=rows, samples=samples, same=same)
    return None

"""The shards of a webdataset are divided among data workers, and among the ranks they are not.

What it does: flags a DataPipeline over a SimpleShardList without `split_by_node`, and a WebDataset whose `nodesplitter`
is None, `split_by_worker` or gives back all it gets, that a program of several ranks trains on.

Why it matters: `split_by_worker` knows the data workers of one rank and no ranks. All ranks read the same shards, in
one order where nothing shuffles them by chance: N ranks see what one would, and an epoch costs N times as much.

Bad:

    dataset = wds.DataPipeline(wds.SimpleShardList(urls), wds.split_by_worker, wds.tarfile_to_samples(), ...)

Good:

    dataset = wds.DataPipeline(wds.SimpleShardList(urls), wds.split_by_node, wds.split_by_worker, ...)

or wds.ResampledShards(urls), of which each rank draws its own.

What it cannot see: shards that are other files on each machine. Shards that are shuffled by chance, where the number of
steps ends an epoch, are as good as resampled ones and pass.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.loading.shard_pipelines import shards_of_all_ranks
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A187"
NAME = "shards-of-all-ranks"
SEVERITY = Severity.ERROR
RUN_CLASS, RUN_WHEN = "duplicate-data", "several"
WORDS = ("webdataset",)
CHECKLIST = "shards are divided among the ranks"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the lists of shards that each rank reads whole."""
    yield from also((), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for shards, pipeline, trains in shards_of_all_ranks(execution):
        if shards.node is None:
            continue
        steps = [shown(trains, project, "every rank trains on it")]
        if pipeline is not shards:
            steps.insert(0, shown(pipeline, project, "no stage divides them among the ranks"))
        yield violation(
            home(shards, project),
            shards.node,
            "all ranks read these shards: nothing divides them among the ranks, so that each trains on the same "
            "samples as the others",
            "wds.split_by_node before wds.split_by_worker, or nodesplitter=wds.split_by_node; or ResampledShards",
            steps=tuple(steps),
            confidence=Confidence.LIKELY,
        )

"""A sampler gives each rank its own samples, and several ranks compute one model together.

What it does: runs each script on values that are not known, and flags a DistributedSampler that counts by the rank in
the world, which is its default, where `parallelize_module` cuts the model over ranks.

Why it matters: the ranks of a tensor-parallel group add up their parts of one activation, and need one batch for that.
With other samples on each, parts of different samples are added: the loss goes down for a while, and the model is
wrong.

Bad:

    sampler = DistributedSampler(dataset)
    parallelize_module(model, mesh["tp"], plan)

Good:

    dp = mesh["dp"]
    sampler = DistributedSampler(dataset, num_replicas=dp.size(), rank=dp.get_local_rank())

What it cannot see: batches that a library hands on inside of the group; programs that broadcast in a loop are left
alone, and plans whose inputs are cut along the batch.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.models.parallel_inputs import samples_by_global_rank
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A173"
NAME = "sampler-across-model-parallel"
SEVERITY = Severity.ERROR
RUN_CLASS = "rank-divergence"
WORDS = ("DistributedSampler",)
CHECKLIST = "ranks that compute one model together are given one batch"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the samplers that part what belongs together."""
    yield from also((), file, project, _run)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for sampler, cut in samples_by_global_rank(execution):
        yield violation(
            home(sampler, project),
            sampler.node,
            "each rank of the world gets samples of its own, and the ranks over which the model is cut need the same "
            "ones: they add up parts of different samples",
            "num_replicas=mesh['dp'].size(), rank=mesh['dp'].get_local_rank(), of the dimension along which data are "
            "shared out",
            steps=(shown(cut, project, "the model is cut over ranks here"),),
            confidence=Confidence.LIKELY,
        )

"""Each rank takes the mean and deviation of its own samples, and the ranks train one model on them.

What it does: runs each script on values that are not known, and flags statistics (means, deviations, counts, extremes)
that a pass before the training takes over a loader which gives each rank its share, where nothing sums, gathers or
hands them out, and the samples or the loss of the training are computed with them.

Why it matters: every rank scales the same data in another way, and the gradients of all of them are averaged into one
model: it is trained on as many scalings as there are ranks. Only one rank's are saved with it, and nothing fails.

Bad:

    sampler = DistributedSampler(train_set)
    loader = DataLoader(train_set, 16, sampler=sampler)
    normalizer.fit(loader)                              # other samples on each rank

Good:

    normalizer.fit(DataLoader(train_set, 16))           # the whole set, alike on all ranks
    # or: dist.all_reduce() of the sums and counts, or broadcast from rank 0, before they are used

Statistics that a module inside of the wrapped model holds are left alone: DDP hands its buffers out. So are those that
are taken again in the training itself.

What it cannot see: shares that are cut without a sampler, and statistics that are read from a file.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.steps.own_statistics import statistics_of_own_share
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A234"
NAME = "statistics-of-own-share"
SEVERITY = Severity.ERROR
RUN_CLASS, RUN_WHEN = "rank-divergence", "ranks"
WORDS = ("DataLoader", "DistributedSampler", "loader")
CHECKLIST = "statistics for scaling are those of all ranks"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the passes in which a rank takes statistics of its own."""
    yield from also((), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for one in statistics_of_own_share(execution):
        asked = [
            step(project.file_with(frame.caller), frame.call, "by this call")
            for frame in one.taken.frames[-1:]
            if hasattr(frame.call, "lineno") and one.taken.function is not one.backward.function
        ]
        yield violation(
            home(one.taken, project),
            one.taken.node,
            "statistics are taken of this rank's own share of the samples, and no rank sums or hands them out: the "
            "ranks train one model under different scalings",
            "take them of the whole set on each rank, or dist.all_reduce() the sums and counts first",
            steps=(
                *asked,
                shown(one.used, project, "the training computes with them"),
                shown(one.backward, project, "the gradients of all ranks are averaged"),
            ),
            confidence=Confidence.LIKELY,
        )

"""Data workers are seeded with the same numbers in every epoch.

What it does: runs each script on values that are not known, and flags what seeds numpy, Python's random or torch in the
data workers by a number that is another one in each worker but the same in each epoch, where the loader is read epoch
after epoch, starts its workers anew each time, and the data set draws from that generator.

Why it matters: without persistent_workers=True a loader starts new workers for each epoch. Each begins with the same
seed again, and all epochs draw the same sequence of crops, shifts and noise: a hundred epochs see the augmentations
of one. Nothing looks wrong but the gap between training and validation.

Bad:

    def seed_worker(worker_id):
        np.random.seed(seed + rank * num_workers + worker_id)

Good:

    def seed_worker(worker_id):
        np.random.seed(torch.initial_seed() % 2**32)     # drawn anew for each epoch, another one for each worker

or persistent_workers=True, or a seed that the epoch goes into.

What it cannot see: generators that a data set makes for itself, and what libraries draw with numpy inside.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.loading.repeated_seeds import seeded_again
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A188"
NAME = "workers-seeded-again"
SEVERITY = Severity.WARNING
RUN_CLASS = "rng-collision"
WORDS = ("worker_init_fn", "get_worker_info")
CHECKLIST = "data workers are seeded differently in each epoch"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the seeds that workers are given again."""
    yield from also((), file, project, _run)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for seeded, loader in seeded_again(execution):
        yield violation(
            home(seeded, project),
            seeded.node,
            "nothing of the epoch goes into this seed, and the loader starts its workers anew for each: all epochs "
            "draw the same random numbers",
            "seed with torch.initial_seed() % 2**32, which is another number for each worker and epoch, or "
            "persistent_workers=True",
            steps=(shown(loader, project, "this loader's workers are seeded so"),),
            confidence=Confidence.LIKELY,
        )
        return  # the other generators are seeded beside it, by the same number

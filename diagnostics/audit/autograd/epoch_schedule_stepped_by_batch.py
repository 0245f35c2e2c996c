"""A schedule as long as there are epochs is stepped with every batch.

What it does: runs each script on values that are not known, and flags the step of a scheduler in the loop over the
batches where its length is the number of epochs that the loop around it counts: T_max, total_iters, total_steps, what a
factor of LambdaLR divides its step by. A scheduler that was chosen by a name is taken with the tests of that name.

Why it matters: the rate has come to its end after as many batches as there are epochs. A cosine then goes up again and
swings through the whole training; a linear warm-up is over in a moment. Nothing is raised.

Bad:

    scheduler = CosineAnnealingLR(optimizer, T_max=epochs)
    for epoch in range(epochs):
        for batch in loader:
            ...
            scheduler.step()

Good:

        for batch in loader: ...
        scheduler.step()          # or T_max=epochs * len(loader)

What it cannot see: lengths that are worked out from other numbers, and steps under tests that nothing connects with
the choice of the scheduler.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.steps.epoch_schedules import epoch_schedules_stepped_by_batch
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A313"
NAME = "epoch-schedule-stepped-by-batch"
SEVERITY = Severity.WARNING
RUN_CLASS = "wrong-schedule"
WORDS = ("step",)


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the steps that come too often."""
    yield from also((), file, project, _run)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for stepped, scheduler, loop in epoch_schedules_stepped_by_batch(execution):
        yield violation(
            home(stepped, project),
            stepped.node,
            f"{scheduler.name.rpartition('.')[2]} is as long as there are epochs, and is stepped with every batch "
            "here: its end comes in the first epoch",
            "step it once an epoch, or make it as long as there are batches in all",
            steps=(
                shown(scheduler, project, "its length is the number of epochs"),
                step(project.file_with(loop.function), loop.node, "the epochs"),
            ),
            confidence=Confidence.LIKELY,
        )

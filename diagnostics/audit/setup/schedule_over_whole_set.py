"""A learning rate's schedule counts the batches of the whole data set, and each rank goes through its part of it.

What it does: runs each script on values that are not known, and flags schedules of `torch.optim.lr_scheduler` and
transformers whose number of steps is `len(dataset) / batch_size`, where the loader of that data set and batch size has
a DistributedSampler and each of its batches steps the schedule. Also schedules that Accelerate steps once for each rank
and that are as long as a loader is which it has shared out, or as the training of each rank, which ends after so many
steps of its optimizer.

Why it matters: a rank sees world-size times fewer batches. The schedule ends in its first part: a rate that should rise
and fall never comes down, with 8 ranks it has not left the warm-up.

Bad:

    steps = epochs * (len(dataset) // batch_size)
    scheduler = OneCycleLR(optimizer, max_lr=0.1, total_steps=steps)

Good:

    scheduler = OneCycleLR(optimizer, max_lr=0.1, total_steps=epochs * len(loader))

What it cannot see: schedules of the project's own, and functions given to LambdaLR.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.steps.lengths import (
    counted_in_own_steps,
    counted_once_for_all,
    schedules_over_whole_set,
)
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A171"
NAME = "schedule-over-whole-set"
SEVERITY = Severity.WARNING
RUN_CLASS = "wrong-schedule"
WORDS = ("len", "Accelerator", "accelerator")
CHECKLIST = "schedules are as long as what one rank goes through"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the lengths that are those of the whole data set."""
    yield from also((), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for made, counted, loader in schedules_over_whole_set(execution):
        place = counted if counted.function is not None and counted.node is not None else made
        yield violation(
            home(place, project),
            place.node or made.node,
            "this counts the batches of the whole data set, and each rank goes through its part: the schedule is "
            "world-size times too long, and its end never comes",
            "count with len(loader), which is the rank's own number of batches",
            steps=(
                shown(made, project, "the schedule is made for so many steps"),
                shown(loader, project, "the loader's sampler gives each rank its part"),
            ),
            confidence=Confidence.LIKELY,
        )
    for made, prepared, length in counted_once_for_all(execution):
        place = length if length.function is not None and length.node is not None else made
        yield violation(
            home(place, project),
            place.node or made.node,
            "this counts one rank's part of the data, and Accelerate steps a prepared schedule once for each rank: it "
            "is over after 1 / num_processes of the run",
            "num_training_steps * accelerator.num_processes, and the same for the warm-up; or count before prepare()",
            steps=(
                shown(made, project, "the schedule is made for so many steps"),
                shown(prepared, project, "from here on it steps num_processes times with each step"),
            ),
            confidence=Confidence.LIKELY,
        )
    for made, prepared, _, end in counted_in_own_steps(execution):
        yield violation(
            home(made, project),
            _where_given(made.node),
            "the training ends after so many steps, and Accelerate steps a prepared schedule num_processes times in "
            "each: it is over after 1 / num_processes of the run, and so is the warm-up",
            "num_training_steps * accelerator.num_processes, and the same for the warm-up",
            steps=(
                shown(prepared, project, "from here on it steps num_processes times with each step"),
                shown(end, project, "the training ends after that number of steps of the optimizer"),
            ),
            confidence=Confidence.LIKELY,
        )


def _where_given(made: ast.AST) -> ast.AST:
    """Returns the number of steps in a call that makes a schedule, the call where it has no name there."""
    named = made.keywords if isinstance(made, ast.Call) else []
    return next((one.value for one in named if one.arg == "num_training_steps"), made)

"""Rows are logged to Weights & Biases at a step lower than the run has come to, and are dropped.

What it does: runs each script on values that are not known, and flags `log(..., step=...)` of one run with steps that
are counted differently: for all ranks here and for this rank there, by batches here and by epochs there; or with the
number of the batch in a loop that each epoch begins anew.

Why it matters: a run has one step, which only rises. What is logged at a lower one is dropped: "Tried to log to step 3
that is less than the current step 800", a line among the others. The evaluation is made, and no curve shows it.

Bad:

    for epoch in range(epochs):
        for batch in loader:
            step += 1
            wandb.log({"train/loss": loss}, step=step)
        wandb.log({"val/loss": validate()}, step=epoch)

Good:

        wandb.log({"val/loss": validate(), "epoch": epoch}, step=step)

What it cannot see: steps that a library counts; several runs in one program.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, shown
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.steps.tracker_steps import begun_anew, given_at, rows_of_lower_steps
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A529"
NAME = "tracker-step-goes-back"
SEVERITY = Severity.WARNING
WORDS = ("wandb",)
CHECKLIST = "all rows of a run are logged by one count of steps"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the logs whose rows are dropped."""
    yield from also((), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for behind, ahead in rows_of_lower_steps(execution):
        node, function = given_at(behind)
        other, where = given_at(ahead)
        yield violation(
            project.file_with(function),
            node,
            "the step of these rows is counted otherwise than that of others in the same run, and is lower: W&B drops "
            "what is logged below the step that a run has come to",
            "log all of them by the same count of steps, or without a step and by define_metric()",
            steps=(step(project.file_with(where), other, "the run has come further by this"),),
            confidence=Confidence.LIKELY,
        )
    for log, loop in begun_anew(execution):
        node, function = given_at(log)
        yield violation(
            project.file_with(function),
            node,
            "each round of the loop around begins these steps anew: W&B drops what is logged below the step that a run "
            "has come to, so that the first round alone is kept",
            "a count that goes on through the rounds: step=epoch * len(loader) + i",
            steps=(
                step(project.file_with(loop.function), loop.node, "the loop around"),
                shown(log, project, "logs at the number of the inner loop's round"),
            ),
            confidence=Confidence.LIKELY,
        )

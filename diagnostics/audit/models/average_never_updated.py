"""A moving average of the weights is made and evaluated or saved, and nothing brings it up to date.

What it does: runs each script on values that are not known, and flags averages of the weights, of the project's own
class or of a library's (AveragedModel, ModelEma, ExponentialMovingAverage), in a program that trains and asks the
average for something, where its update is never called: not in the run, and not of anything that has its name.

Why it matters: the average stays what the weights were when it was made, random ones as a rule. Each score that is
measured with it, and each checkpoint of it, is that of the untrained model, while the loss falls as it should.

Bad:

    ema = ExponentialMovingAverage(model, decay=0.9999)
    for batch in loader:
        train_step(batch)
    with ema.average_parameters():
        evaluate(model)

Good:

    for batch in loader:
        train_step(batch)
        ema.update()

What it cannot see: copies without a class of their own, which may be a teacher or a reference that is meant to stay;
averages that are handed to a library, which may update them.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.models.never_updated import never_updated
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A345"
NAME = "average-never-updated"
SEVERITY = Severity.ERROR
RUN_CLASS = "state-not-kept"
WORDS = ("parameters", "named_parameters", "state_dict")
CHECKLIST = "an average of the weights is brought up to date in each step"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the averages that stay as they were made."""
    yield from also((), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for made, function, update, trained in never_updated(execution, project):
        yield violation(
            project.file_with(function),
            made,
            f"this average of the weights is never brought up to date, {update}() is called nowhere: what is evaluated "
            "or saved of it are the weights that it was made with",
            f"call {update}() behind each step of the optimizer",
            steps=(shown(trained, project, "the weights are trained here, and the average is not told"),),
            confidence=Confidence.LIKELY,
        )

"""A validation in the middle of a training leaves the model in eval mode.

What it does: runs each script on values that are not known, and flags `model.eval()` in a loop that also trains the
model, where no `train()` of it stands in that loop.

Why it matters: from the first validation on dropout drops nothing, and batch norm neither uses the batch nor learns its
statistics. The loss often looks better for it. Nothing is raised.

Bad:

    model.train()
    for step, batch in enumerate(loader):
        train(batch)
        if step % 100 == 0:
            validate()                # with model.eval()

Good:

        if step % 100 == 0:
            validate()
            model.train()

What it cannot see: models without dropout and batch norm, to which it does nothing; modes that a library sets.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.models.modes import left_in_eval
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A314"
NAME = "eval-without-train"
SEVERITY = Severity.WARNING
WORDS = ("eval",)


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the calls of eval() that nothing undoes."""
    yield from also((), file, project, _run)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for turned, backward, _ in left_in_eval(execution, project):
        yield violation(
            home(turned, project),
            turned.node,
            "the model is put into eval mode here, and nothing in the loop that trains it puts it back: from the first "
            "validation on dropout is off and batch norm learns nothing",
            "call model.train() behind the validation",
            steps=(shown(backward, project, "it is trained here, in the same loop"),),
            confidence=Confidence.LIKELY,
        )

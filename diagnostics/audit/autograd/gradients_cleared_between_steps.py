"""Gradients are cleared at each micro-batch, and the optimizer steps at every k-th.

What it does: runs each script on values that are not known, and flags zero_grad() in a loop where a backward pass has
left gradients that no step of the loop's one optimizer has taken, by the tests on the loop's counter.

Why it matters: a step then takes the last micro-batch alone. The batch is k times smaller than it is meant to be, k - 1
of k samples teach nothing, and the loss, divided by k, moves the model k times less. Nothing fails.

Bad:

    for i, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        (loss(model(x), y) / k).backward()
        if (i + 1) % k == 0:
            optimizer.step()

Good:

    for i, (x, y) in enumerate(loader):
        (loss(model(x), y) / k).backward()
        if (i + 1) % k == 0:
            optimizer.step()
            optimizer.zero_grad()

What it cannot see: loops with several optimizers, where a backward pass may be meant to be forgotten.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.steps.cleared import cleared_before_step
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A315"
NAME = "gradients-cleared-between-steps"
SEVERITY = Severity.ERROR
RUN_CLASS = "gradients-lost"
WORDS = ("zero_grad",)
CHECKLIST = "gradients are cleared where a step has taken them"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the clearings that come before a step."""
    yield from also((), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for cleared, backward, stepped in cleared_before_step(execution):
        yield violation(
            home(cleared, project),
            cleared.node,
            "this comes at each micro-batch, and the step at some: the gradients of the micro-batches between are gone",
            "clear the gradients right behind the step, under the same test",
            steps=(shown(backward, project, "a micro-batch leaves its gradients"),
                   shown(stepped, project, "the step does not come each time")),
            confidence=Confidence.LIKELY,
        )  # fmt: skip

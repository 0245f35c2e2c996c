"""A moving average of a model's weights leaves out its buffers: the running statistics stay those of the beginning.

What it does: runs each script on values that are not known, and flags copies of a model with batch normalisation whose
parameters are updated in place round by round, whose buffers nothing copies, and which predict in evaluation mode or
are saved.

Why it matters: batch normalisation divides by its running mean and variance in evaluation. In the copy they are those
of step 0, mean 0 and variance 1: its score is bad, or chance, while the model itself trains well.

Bad:

    ema = copy.deepcopy(model).eval()
    for mine, theirs in zip(ema.parameters(), model.parameters()):
        mine.lerp_(theirs, 0.001)

Good:

    for mine, theirs in zip(ema.parameters(), model.parameters()):
        mine.lerp_(theirs, 0.001)
    for mine, theirs in zip(ema.buffers(), model.buffers()):
        mine.copy_(theirs)

What it cannot see: layers with buffers of a library other than torch and torchvision.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.models.averaged import averaged_without_buffers
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A316"
NAME = "average-without-buffers"
SEVERITY = Severity.WARNING
RUN_CLASS = "state-not-kept"
WORDS = ("parameters", "named_parameters")
CHECKLIST = "an average of weights takes the buffers along"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the updates that leave the buffers as they were."""
    yield from also((), file, project, _run)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for update, copied, used in averaged_without_buffers(execution):
        yield violation(
            home(update, project),
            update.node,
            "this average takes the parameters alone, and the model normalises by batches: the copy's running mean and "
            "variance stay as they were at its making",
            "copy the buffers as well: for mine, theirs in zip(ema.buffers(), model.buffers()): mine.copy_(theirs)",
            steps=(
                shown(copied, project, "the copy is made here"),
                shown(used, project, "and used here, by its own running statistics"),
            ),
            confidence=Confidence.LIKELY,
        )

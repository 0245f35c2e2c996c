"""An average of weights is kept by names that the model it is updated from does not have.

What it does: runs each script on values that are not known, and flags `if name in self.shadow` where the names come
from a DistributedDataParallel model and the average was made from the model inside of it, or the other way round.

Why it matters: each name of the wrapper begins with "module.". The test is never true, nothing is updated and nothing
says so: what is saved or evaluated as the average are the weights of the first step.

Bad:

    ema = Average(net)            # keeps "layer.weight"
    model = DDP(net)
    ema.update(model)             # asks for "module.layer.weight"

Good:

    ema.update(model.module)

What it cannot see: averages of libraries, which mostly go by the order of the parameters.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.models.other_names import asked_by_other_names
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A317"
NAME = "average-by-other-names"
SEVERITY = Severity.WARNING
RUN_CLASS = "state-not-kept"
WORDS = ("named_parameters", "state_dict", "named_buffers")
CHECKLIST = "an average of weights is updated by the names that it keeps"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the tests for names that are never there."""
    yield from also((), file, project, _run)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for guard, asked, kept in asked_by_other_names(execution):
        yield violation(
            project.file_with(guard.function),
            guard.node,
            "this test is never true: one of the two is a DDP model, whose names begin with 'module.', and the other "
            "is the model inside of it. Nothing is updated",
            "update the average from model.module, or make it from the wrapped model",
            steps=(
                shown(kept, project, "the names that are kept"),
                shown(asked, project, "the names that are asked for"),
            ),
            confidence=Confidence.LIKELY,
        )

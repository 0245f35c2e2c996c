"""Predictions that are gathered rank after rank are compared with labels in the data set's order.

What it does: follows what a loader with a DistributedSampler gives through the model, `all_gather` and `torch.cat`, and
flags a comparison of that with what is read from the data set itself: `dataset.targets`, `dataset.tensors[1]`.

Why it matters: the sampler deals the samples out in turn, rank 0 has those numbered 0, 2, 4 ... of two ranks. Put one
behind the other, the parts are in another order, and each prediction is held against the label of another sample: the
accuracy is that of a guess, and the best checkpoint is any.

Bad:

    scores = torch.cat(parts)[: len(dataset)]
    accuracy = (scores.argmax(1) == dataset.targets).float().mean()

Good:

    scores = torch.stack(parts, dim=1).flatten(0, 1)[: len(dataset)]   # or gather the labels in the same way

What it cannot see: predictions that are written to a file in this order.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.steps.gathered_order import GATHERS, taken_for_data_order
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A233"
NAME = "gathered-in-another-order"
SEVERITY = Severity.ERROR
RUN_CLASS, RUN_WHEN = "wrong-loss", "several"
WORDS = GATHERS
CHECKLIST = "what is gathered is brought into the order of what it is compared with"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields what puts the parts of the ranks one behind the other, where the data set's order is meant."""
    yield from also((), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for row, compared, gather in taken_for_data_order(execution):
        if row.node is None or row.function is None:
            continue
        yield violation(
            home(row, project),
            row.node,
            "the parts of the ranks are put one behind the other, and compared with what stands in the order of the "
            "data set: the sampler dealt the samples out in turn, so that each meets what belongs to another one",
            "torch.stack(parts, dim=1).flatten(0, 1), or gather the labels in the same way",
            steps=(
                shown(gather, project, "each rank's part is gathered here"),
                *([shown(compared, project, "here it is compared")] if compared.function is not None else []),
            ),
            confidence=Confidence.LIKELY,
        )

"""Predictions for a loader that shuffles are compared with labels in the data set's order.

What it does: follows what a DataLoader with shuffle=True gives through the model and `torch.cat` or a list, and flags a
comparison of that with what is read from the data set itself: `y_test`, `dataset.targets`, in an operator, as a mask or
in a metric of scikit-learn.

Why it matters: each prediction is held against the label of another sample. The score is that of chance though the
model is good, and the best checkpoint is any.

Bad:

    test = DataLoader(TensorDataset(x_test, y_test), 200, shuffle=True)
    pred = torch.cat([model(x).argmax(1) for x, _ in test])
    accuracy = (pred == y_test).float().mean()

Good:

    test = DataLoader(TensorDataset(x_test, y_test), 200)        # or collect the labels in the same loop

What it cannot see: an order that a sampler draws, and predictions that are written to a file.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.steps.shuffled_order import taken_for_order
from diagnostics.static.execution.events import Execution
from diagnostics.static.execution.values import Made
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A248"
NAME = "shuffled-predictions-compared"
SEVERITY = Severity.ERROR
RUN_CLASS = "wrong-loss"
WORDS = ("DataLoader", "shuffle")
CHECKLIST = "what is compared with the labels of a data set stands in its order"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the loaders whose shuffled order is taken for the data set's."""
    yield from also((), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    told: set[int] = set()
    for loader, whole, compared in taken_for_order(execution):
        if loader.node is None or loader.function is None or id(loader) in told:
            continue
        told.add(id(loader))
        ways = [(whole, "what the model gives is put together in that order")] if isinstance(whole, Made) else []
        ways.append((compared, "and compared here with what stands in the data set's order"))
        yield violation(
            home(loader, project),
            loader.node,
            "this loader shuffles, and what the model gives for its batches is compared with the labels in the order "
            "of the data set: each prediction meets the label of another sample",
            "shuffle=False for what is measured, or collect the labels in the loop over the same batches",
            steps=tuple(shown(one, project, text) for one, text in ways if one.function is not None),
            confidence=Confidence.LIKELY,
        )

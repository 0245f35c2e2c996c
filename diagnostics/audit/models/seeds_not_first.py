"""The seeds of a sampled batch are taken from its front, after it was made unique, which sorts it.

What it does: flags nodes (users, items, tokens) that are joined of a batch's own and of what was sampled around them
and go through unique(), sorted() or a set, where as many rows as the batch has of its own are then taken from the
front: in the same function, by who gets rows and count back, or by a field such as `batch.batch_size` beside them.

Why it matters: the first rows are those with the lowest numbers, not the batch's. The loss is taken at other samples,
those of the validation among them, or predictions are set against the labels of others. It falls all the same.

Bad:

    nodes = torch.cat([seeds, sampled]).unique()
    loss = criterion(model(x[nodes], edges)[: len(seeds)], y[nodes][: len(seeds)])

Good:

    nodes, place = torch.cat([seeds, sampled]).unique(return_inverse=True)
    loss = criterion(model(x[nodes], edges)[place[: len(seeds)]], y[seeds])

What it cannot see: batches whose fields are packed by another function than the one that sorts.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.samples.sorted_fronts import fronts

CODE = "A344"
NAME = "seeds-not-first"
SEVERITY = Severity.ERROR
RUN_CLASS = "wrong-loss"
WORDS = ("unique", "union1d", "sorted", "set")
CHECKLIST = "rows of a sampled batch are found by their numbers, not by their place after sorting"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields what sorts the rows whose front is taken."""
    for function in () if file.is_test else project.functions_in(file):
        for one in fronts(function, project):
            yield violation(
                file,
                one.sort,
                f"the rows are in the order of their numbers here, and the first len({one.seeds}) of them are taken "
                f"for '{one.seeds}': they are others",
                f"keep '{one.seeds}' in front (join it with what is not in it), or find its rows by their numbers: "
                "unique(return_inverse=True)",
                steps=(step(project.file_with(one.where), one.taken, "takes them from the front"),),
                confidence=Confidence.LIKELY,
            )

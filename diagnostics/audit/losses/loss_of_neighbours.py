"""The loss of a sampled graph is taken over the neighbours as well, not over the seeds alone.

What it does: runs each script on values that are not known, and flags a loss on all labels of a batch of PyTorch
Geometric's NeighborLoader or HGTLoader that has `input_nodes`: the first `batch_size` nodes are the seeds, all others
were sampled around them.

Why it matters: neighbours are nodes of the validation and the test split, too, so their labels are learned, and the
score on them says nothing. They lack neighbourhoods of their own, and are learned from half of what they have.

Bad:

    loss = F.cross_entropy(model(batch.x, batch.edge_index), batch.y)

Good:

    n = batch.batch_size
    loss = F.cross_entropy(model(batch.x, batch.edge_index)[:n], batch.y[:n])

What it cannot see: loaders of other libraries, and labels that were hidden in the data before.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.models.sampled_neighbours import losses_of_neighbours
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A359"
NAME = "loss-of-neighbours"
SEVERITY = Severity.ERROR
WORDS = ("NeighborLoader", "HGTLoader")
CHECKLIST = "the loss of a sampled graph is that of its seeds"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the losses over all nodes of a sampled batch."""
    yield from also((), file, project, _run)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for loss, loader in losses_of_neighbours(execution):
        yield violation(
            home(loss, project),
            loss.node,
            "this loss is taken over all nodes of the sampled batch, also over the neighbours, among them those of the "
            "validation and test splits: the seeds are its first batch_size nodes",
            "out[: batch.batch_size] and batch.y[: batch.batch_size]",
            steps=(shown(loader, project, "samples the neighbours of its input_nodes"),),
            confidence=Confidence.LIKELY,
        )

"""A rank's own features are compared with those of all ranks, and its targets begin at 0 on every rank.

What it does: runs each script on values that are not known, and flags `cross_entropy(own @ gathered.T, arange(n))`,
where the one side is the rank's own, the other the gathered features of all ranks, and the targets are the same
numbers on each rank.

Why it matters: among the gathered features the pairs of rank r stand at r * n and behind. With targets from 0 on, all
ranks but the first are trained to match their images with the texts of rank 0: the loss falls slowly or not at all,
and on one GPU everything is as it should be.

Bad:

    logits = image @ gather(text).T
    loss = F.cross_entropy(logits, torch.arange(n))

Good:

    logits = image @ gather(text).T
    loss = F.cross_entropy(logits, torch.arange(n) + n * dist.get_rank())

What it cannot see: features that come out of what is not known, and products that are written as an einsum.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.models.local_targets import targets_without_rank
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A333"
NAME = "targets-without-rank"
SEVERITY = Severity.ERROR
RUN_CLASS, RUN_WHEN = "wrong-loss", "several"
WORDS = ("arange", *operations.GATHERED_TENSORS)
CHECKLIST = "targets among the features of all ranks begin at the rank's own"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the targets that fit the first rank alone."""
    yield from also((), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for loss, product, gathered, counted in targets_without_rank(execution):
        yield violation(
            home(counted, project),
            counted.node or loss.node,
            "these targets begin at 0 on every rank, and the features they are targets among are those of all ranks: "
            "each rank but the first is trained to match the pairs of rank 0",
            "targets = torch.arange(n) + n * dist.get_rank()",
            steps=(
                shown(gathered, project, "the features of all ranks come together here"),
                shown(product, project, "the rank's own are compared with them"),
                shown(loss, project, "and the loss takes the targets"),
            ),
            confidence=Confidence.LIKELY,
        )

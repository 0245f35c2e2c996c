"""A sum over all ranks is divided by what one rank counted.

What it does: runs each script on values that are not known, and flags a division of what all_reduce summed by a number
that is counted over the samples of one rank's part of a loader.

Why it matters: the number is too large by the number of ranks. An accuracy of 0.4 on four ranks reads 1.6, a loss looks
four times as high as it is; best checkpoints, early stops and schedules follow it.

Bad:

    dist.all_reduce(correct)
    accuracy = correct / seen                 # seen += len(batch)

Good:

    counts = torch.stack([correct, seen])
    dist.all_reduce(counts)
    accuracy = counts[0] / counts[1]

What it cannot see: counts of objects that the project does not define.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.audit.subjects import MEETINGS
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.steps.plateau import sums_over_own_counts
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A225"
NAME = "sum-over-own-count"
SEVERITY = Severity.WARNING
RUN_CLASS = "wrong-loss"
SUBJECT = MEETINGS
CHECKLIST = "metrics are summed and counted over the same ranks"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the divisions."""
    yield from also((), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for division, summed, _ in sums_over_own_counts(execution):
        if division.node is not None and division.function is not None:
            yield violation(
                project.file_with(division.function),
                division.node,
                "a sum over all ranks is divided by what this rank alone has counted: the result is too large by the "
                "number of ranks",
                "sum the count over the ranks as well",
                steps=(shown(summed, project, "summed over all ranks here"),),
                confidence=Confidence.LIKELY,
            )

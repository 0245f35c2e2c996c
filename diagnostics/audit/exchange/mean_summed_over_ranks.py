"""The means of all ranks are summed and taken for a mean.

What it does: runs each script on values that are not known, and flags all_reduce and reduce of a mean over one rank's
samples (a quotient of two of its own numbers, `.mean()`) with the sum as operation, where the result is printed, logged
or kept and nothing divides it.

Why it matters: the number is as many times too large as there are ranks. On four ranks an accuracy of 0.4 reads 1.6,
and a loss seems to be worse on more GPUs; thresholds and best checkpoints follow it.

Bad:

    accuracy = correct / seen
    dist.all_reduce(accuracy)
    print(accuracy.item())

Good:

    counts = torch.stack([correct, seen])
    dist.all_reduce(counts)
    print((counts[0] / counts[1]).item())

or op=dist.ReduceOp.AVG where all ranks have as many samples.

What it cannot see: who divides in another program what is kept.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.steps.means import summed_means
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A227"
NAME = "mean-summed-over-ranks"
SEVERITY = Severity.WARNING
RUN_CLASS = "wrong-loss"
WORDS = operations.SUMS
CHECKLIST = "means over ranks are averaged, not summed"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the sums of means."""
    yield from also((), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for summed, told in summed_means(execution):
        yield violation(
            home(summed, project),
            summed.node,
            "each rank's own mean is summed over the ranks here, and nothing divides the sum: what is told is too "
            "large by the number of ranks",
            "sum numerator and denominator over the ranks and divide then; or op=dist.ReduceOp.AVG",
            steps=(shown(told, project, "told here as it is"),),
            confidence=Confidence.LIKELY,
        )

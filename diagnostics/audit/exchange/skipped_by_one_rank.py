"""Whether a batch is left out on all ranks is decided by the loss of one rank.

What it does: runs each script on values that are not known, and flags a broadcast of a verdict that a test of the
rank's own loss gave (isfinite, isnan, isinf), where the optimizer's step of the same batch goes by that verdict.

Why it matters: each rank has another loss. A batch that gives NaN on any other rank than the one that is asked is not
left out: its gradients are in the average of all, and after the step every rank's weights are NaN.

Bad:

    bad = torch.tensor(float(not torch.isfinite(loss)), device=device)
    dist.broadcast(bad, src=0)

Good:

    bad = torch.tensor(float(not torch.isfinite(loss)), device=device)
    dist.all_reduce(bad, op=dist.ReduceOp.MAX)

What it cannot see: verdicts that ask for no finite number but compare the loss with earlier ones.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.steps.verdicts import left_out_by_one_rank
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A237"
NAME = "skipped-by-one-rank"
SEVERITY = Severity.WARNING
WORDS = operations.TO_ALL
CHECKLIST = "all ranks have a say in whether a batch is left out"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the verdicts of one rank."""
    yield from also((), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for handed, test, samples, stepped in left_out_by_one_rank(execution):
        yield violation(
            home(handed, project),
            handed.node,
            "one rank's own loss decides whether this batch is left out: where another rank's is not finite, its "
            "gradients go into the step of all",
            "let every rank say it: dist.all_reduce(flag, op=dist.ReduceOp.MAX)",
            steps=(
                *(
                    shown(one, project, text)
                    for one, text in ((samples, "the samples of this rank"), (test, "its loss is asked here"))
                    if one.function is not None
                ),
                shown(stepped, project, "this step goes by the verdict"),
            ),
            confidence=Confidence.LIKELY,
        )

"""A divergence is given probabilities where it reads their logarithms.

What it does: runs each script on values that are not known, and flags `kl_div` and `KLDivLoss` whose input comes out of
a softmax or sigmoid, whose target does although log_target=True says that it is a logarithm, or whose target comes out
of log_softmax without log_target=True.

Why it matters: nothing raises. Given probabilities as input the loss is no divergence: it can be below 0, is not
smallest where both agree, and pulls the student somewhere else. The logarithm of a negative target is NaN.

Bad:

    loss = F.kl_div(F.softmax(student / t, dim=1), F.softmax(teacher / t, dim=1), reduction="batchmean")

Good:

    loss = F.kl_div(F.log_softmax(student / t, dim=1), F.softmax(teacher / t, dim=1), reduction="batchmean")

What it cannot see: models whose own last layer is a softmax, and probabilities that are made by hand or loaded.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.models.divergences import misread_distributions
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A342"
NAME = "divergence-of-probabilities"
SEVERITY = Severity.ERROR
RUN_CLASS = "wrong-loss"
WORDS = ("kl_div", "KLDivLoss")
CHECKLIST = "divergences are given log-probabilities as input"
_TOLD = {
    "input": (
        "the input of this divergence is probabilities, and it reads their logarithms: what comes out is no "
        "divergence, can be negative, and is not smallest where both agree",
        "log_softmax (or logsigmoid) in place of softmax (or sigmoid) for the input",
    ),
    "target": (
        "the target of this divergence is probabilities, and log_target=True says that it is their logarithms: what "
        "comes out is no divergence",
        "log_softmax for the target, or no log_target=True",
    ),
    "log target": (
        "the target of this divergence is log-probabilities, and it reads probabilities: the logarithm of what is "
        "below 0 is NaN",
        "log_target=True, or softmax for the target",
    ),
}


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the divergences of what is in the wrong form."""
    yield from also((), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for one, what, made in misread_distributions(execution):
        title, fix = _TOLD[what]
        yield violation(
            home(one, project),
            one.node,
            title,
            fix,
            steps=(shown(made, project, "made here"),) if made.node is not None else (),
            confidence=Confidence.LIKELY,
        )

"""The targets of a contrastive loss are moved on to the rank's place, and the features are those of the rank alone.

What it does: runs each script on values that are not known, and flags a cross entropy whose targets are
`arange(n) + n * rank`, where its logits are of the rank's own features: nothing gathers those of the others, or an
option does that a configuration or a default has off, and that is not asked about the targets.

Why it matters: among a rank's own features the pairs stand from 0 on. On every rank but the first the targets name
negatives, or lie behind the last logit, where the loss raises or a kernel asserts. On one GPU all is well.

Bad:

    if self.gather and world_size > 1:
        other = gather(other)
    labels = torch.arange(n) + n * rank

Good:

    labels = torch.arange(n)
    if self.gather and world_size > 1:
        other, labels = gather(other), labels + n * rank

What it cannot see: options of which neither a default nor a configuration in the project is found, and features that
come out of what is not known.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.models.shifted_targets import targets_with_rank_alone
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A346"
NAME = "targets-shifted-without-gather"
SEVERITY = Severity.ERROR
RUN_CLASS, RUN_WHEN = "wrong-loss", "several"
WORDS = ("get_rank",)
SUBJECT = ("cross_entropy", "CrossEntropyLoss")
CHECKLIST = "targets are moved on by the rank where the features of all ranks are gathered"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the targets that fit no rank but the first."""
    yield from also((), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for loss, shifted, option in targets_with_rank_alone(execution, project):
        when = f"where {option} is off, the logits are" if option else "the logits are"
        yield violation(
            home(shifted, project) if shifted.function is not None else home(loss, project),
            shifted.node if shifted.node is not None and shifted.function is not None else loss.node,
            f"these targets begin at the rank's place among all ranks' features, and {when} of the rank's own batch: "
            "every rank but the first is trained on wrong pairs, or its targets lie behind the last logit",
            f"add the rank's place where {option} is on" if option else "leave the rank out of the targets",
            steps=(shown(loss, project, "the loss takes them here"),),
            confidence=Confidence.LIKELY,
        )

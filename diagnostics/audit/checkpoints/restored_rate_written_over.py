"""A schedule is made behind the load of its optimizer's state, and writes its first rate over the restored one.

What it does: runs each script on values that are not known, and flags a SequentialLR, LinearLR or ConstantLR that is
made after its optimizer was given a checkpoint's state, and is given its own state afterwards.

Why it matters: the making of a schedule is its first step. It multiplies each group's rate by the warm-up's first
factor, or sets it back to the rate of the beginning. Loading the schedule's state brings its counter back and not the
rate, and each later step goes on from the rate that it finds: every resumed run goes on with one that is wrong by the
same factor. The counter, the logged epoch and the loss look as they should.

Bad:

    optimizer.load_state_dict(state["optimizer"])
    scheduler = SequentialLR(optimizer, [LinearLR(optimizer, 0.05), cosine], milestones=[warmup])
    scheduler.load_state_dict(state["scheduler"])

Good:

    scheduler = SequentialLR(optimizer, [LinearLR(optimizer, 0.05), cosine], milestones=[warmup])
    optimizer.load_state_dict(state["optimizer"])
    scheduler.load_state_dict(state["scheduler"])

What it cannot see: rates that the program puts right itself; where a file writes to `group["lr"]` nothing is said.
Schedules that work each rate out from the first one (LambdaLR, OneCycleLR) are right again after one step.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.checkpoints.rates_written_over import written_over
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A368"
NAME = "restored-rate-written-over"
SEVERITY = Severity.WARNING
RUN_CLASS, RUN_WHEN = "state-not-kept", "resumed"
WORDS = ("SequentialLR", "LinearLR", "ConstantLR")
CHECKLIST = "schedules are made before their optimizer's state is restored"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the schedules that come too late."""
    yield from also((), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for made, loaded, behind in written_over(execution):
        kind = made.name.rpartition(".")[2]
        yield violation(
            home(made, project),
            made.node,
            f"{kind} is made when its optimizer has its rate back from the checkpoint, and writes its own first rate "
            "over it: the resumed run goes on from a wrong one",
            "make the schedule first, and load the optimizer's state behind it",
            steps=(
                shown(loaded, project, "the rate comes back with the optimizer's state"),
                shown(behind, project, "this brings back the schedule's counter, and not the rate"),
            ),
            confidence=Confidence.LIKELY,
        )

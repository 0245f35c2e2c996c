"""The state of a ZeroRedundancyOptimizer is asked for, and never brought together.

What it does: runs each script on values that are not known, and flags `state_dict()` of a ZeroRedundancyOptimizer in a
program that never calls its `consolidate_state_dict()`.

Why it matters: each rank holds its part of the state. Without the call, on all ranks, `state_dict()` raises on the rank
that saves: after the first epoch, and the others wait for that rank in their next collective.

Bad:

    if rank == 0:
        torch.save({"optimizer": optimizer.state_dict()}, path)

Good:

    optimizer.consolidate_state_dict(to=0)      # on every rank
    if rank == 0:
        torch.save({"optimizer": optimizer.state_dict()}, path)

What it cannot see: a call in a library to which the optimizer is given.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.checkpoints.unconsolidated import unconsolidated_states
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A422"
NAME = "state-not-consolidated"
SEVERITY = Severity.ERROR
WORDS = ("state_dict",)
CHECKLIST = "the state of a sharded optimizer is consolidated before it is saved"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the states that no rank has whole."""
    yield from also((), file, project, _run)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for asked, optimizer in unconsolidated_states(execution):
        yield violation(
            home(asked, project),
            asked.node,
            "each rank holds a part of this ZeroRedundancyOptimizer's state, and nothing brings them together: "
            "state_dict() raises on the rank that saves",
            "optimizer.consolidate_state_dict(to=0) before it, on every rank, not under the test of the rank",
            steps=(shown(optimizer, project, "its state is shared out over the ranks"),),
            confidence=Confidence.LIKELY,
        )

"""Every rank goes on with the random state of one rank.

What it does: runs each script on values that are not known, and flags `torch.set_rng_state()`, `random.setstate()` and
`numpy.random.set_state()` to which every rank comes with a state out of one file, in a program that has seeded its
ranks apart (`manual_seed(seed + rank)`).

Why it matters: the ranks were seeded apart so that each draws its own samples, flips, masks and noise. From the first
resume on all of them draw the same: the job trains on one rank's batch as many times as it has ranks, and the loss
looks as it should.

Bad:

    if rank == 0:
        torch.save(torch.get_rng_state(), "rng.pt")
    ...
    torch.set_rng_state(torch.load("rng.pt"))

Good:

    torch.save(torch.get_rng_state(), f"rng_{rank}.pt")
    ...
    torch.set_rng_state(torch.load(f"rng_{rank}.pt"))

What it cannot see: programs whose ranks were never seeded, or by a library.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.checkpoints.random_states import restored_alike
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A370"
NAME = "one-random-state-for-all"
SEVERITY = Severity.WARNING
RUN_CLASS, RUN_WHEN = "rng-collision", "several"
WORDS = ("set_rng_state", "setstate", "set_state")
CHECKLIST = "each rank goes on with its own random state"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the states that make the ranks alike."""
    yield from also((), file, project, _run)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for restore, loaded, seeded, node, function in restored_alike(execution):
        yield violation(
            project.file_with(function),
            node,
            "every rank goes on with this random state, which is that of one rank: the ranks, which were seeded apart, "
            "draw the same samples, masks and noise from here on",
            "save the state of each rank, by a name with its rank, and load that; or seed by rank and step again",
            steps=(
                shown(seeded, project, "the ranks are seeded apart"),
                shown(loaded, project, "all of them read one file"),
                shown(restore, project, "and take its state"),
            ),
            confidence=Confidence.LIKELY,
        )

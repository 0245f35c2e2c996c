"""Processes are joined before what they have put into a queue is taken out.

What it does: runs each script on values that are not known, and flags `process.join()` of processes that put results
into a queue of which nothing is taken before.

Why it matters: a process that has put something into a multiprocessing.Queue does not end before its feeder thread has
written it into the pipe. A pipe holds 64 KiB: with larger results the child waits for a reader, and the parent for the
child, for ever.

Bad:

    for process in processes:
        process.join()
    results = [queue.get() for _ in processes]

Good:

    results = [queue.get() for _ in processes]
    for process in processes:
        process.join()

What it cannot see: how large the results are.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.processes import joined_before_drained
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A514"
NAME = "joined-before-drained"
SEVERITY = Severity.WARNING
WORDS = ("join",)


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the joins that may never come back."""
    yield from also((), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for joined, taken, _ in joined_before_drained(execution):
        yield violation(
            home(joined, project),
            joined.node,
            "these processes are waited for before what they put into a queue is taken out: one with more than a pipe "
            "holds (64 KiB) never ends",
            "take the results out of the queue first, then join",
            steps=(shown(taken, project, "taken out here, behind it"),),
            confidence=Confidence.LIKELY,
        )

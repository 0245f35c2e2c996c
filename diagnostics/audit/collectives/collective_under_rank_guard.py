"""A collective that only some ranks reach, since it stands under a test of the rank.

What it does: flags branches on the rank with a collective in one arm, also one in a function that the arm calls, where
the other ranks do not pass the same operations. Both arms are followed through the project: a barrier in each arm, or
one before and one after the work of rank 0, is balanced and not flagged.

Why it matters: a collective returns when every rank of the group has called it. The ranks that never come leave the
others waiting until the timeout, 10 minutes with NCCL, 30 with gloo; the error then names a rank that waited.

Bad:

    if dist.get_rank() == 0:
        dist.barrier()
        save(model)

Good:

    dist.barrier()
    if dist.get_rank() == 0:
        save(model)

What it cannot see: groups that hold just the ranks of the branch (an operation with a group of its own is left alone),
and calls made through registries or strings.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.collectives.divergence_hits import hit_of, operation, partings
from diagnostics.audit.rule import Violation
from diagnostics.audit.subjects import MEETINGS
from diagnostics.core.findings import Severity
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.collective_sites import SyncKind
from diagnostics.static.spmd.divergent_branch import DivergenceShape

CODE = "A201"
NAME = "collective-under-rank-guard"
SEVERITY = Severity.ERROR
SUBJECT = MEETINGS
CHECKLIST = "every rank reaches every collective"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the branches on the rank with a collective in one arm that the text of the arm shows."""
    for one in partings(file, project, DivergenceShape.ARM, DivergenceShape.LOOP):
        if one.ranks is None or one.there is not None or one.here.meeting is SyncKind.GROUP:
            continue
        if not one.here.hidden:
            yield hit_of(
                one, file, project,
                f"{operation(one.here)} stands under a test of the rank: the ranks that do not come here leave "
                "the others waiting until the timeout",
                f"move {operation(one.here)} out of the branch, so that every rank calls it",
            )  # fmt: skip

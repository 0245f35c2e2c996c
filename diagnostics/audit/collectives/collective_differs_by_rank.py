"""Ranks that call different collectives in the same place.

What it does: flags branches whose arms both make ranks meet, in another operation or another number of them.

Why it matters: the backends match operations by their order alone. Where `all_reduce` of one rank meets `reduce` of
another, NCCL hangs or aborts, and gloo may return wrong numbers without a word.

Bad:

    if rank == 0:
        dist.all_reduce(stats)
    else:
        dist.reduce(stats, dst=0)

Good:

    dist.all_reduce(stats)

What it cannot see: shapes and dtypes; operations in groups of their own.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.collectives.divergence_hits import hit_of, operation, partings
from diagnostics.audit.rule import Violation
from diagnostics.audit.subjects import MEETINGS
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.divergent_branch import DivergenceShape

CODE = "A203"
NAME = "collective-differs-by-rank"
SEVERITY = Severity.ERROR
SUBJECT = MEETINGS
CHECKLIST = "ranks call the same collectives in the same order"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the branches in whose arms different operations stand."""
    for one in partings(file, project, DivergenceShape.ARM):
        if one.there is None:
            continue
        here, there = operation(one.here), operation(one.there)
        told = f"{here} meets {there}" if here != there else f"{here} is called more often in one arm"
        yield hit_of(
            one, file, project,
            f"ranks that decide differently here call other collectives: {told}, which hangs or gives wrong numbers",
            "let every rank call the same collectives in the same order, and branch on the result",
            sure=None if one.ranks is not None else Confidence.POSSIBLE,
        )  # fmt: skip

"""A process group that only some ranks make.

What it does: flags `new_group` and `new_subgroups` under a test of the rank, or after some ranks have left.

Why it matters: every rank of the world has to call `new_group`, in the same order, also those that will not be in the
group. Where only the members call it they wait for the others; with two groups made in another order, ranks hold
handles of the wrong one.

Bad:

    if rank in members:
        group = dist.new_group(members)

Good:

    group = dist.new_group(members)      # on every rank
    if rank in members:
        dist.all_reduce(x, group=group)

What it cannot see: groups made by a library that is not audited.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.audit.collectives.divergence_hits import hit_of, operation, partings
from diagnostics.audit.rule import Violation
from diagnostics.core.findings import Severity
from diagnostics.static.dataflow.taint_sources import RANK
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.collective_sites import SyncKind
from diagnostics.static.spmd.divergent_branch import DivergenceShape

CODE = "A209"
NAME = "new-group-not-by-all"
SEVERITY = Severity.ERROR
WORDS = (*operations.GROUP_MAKERS, "new_subgroups_by_enumeration")
CHECKLIST = "every rank makes every group"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the tests of the rank under which a group is made."""
    for one in partings(file, project, DivergenceShape.ARM, DivergenceShape.LOOP):
        if one.why == RANK and one.here.meeting is SyncKind.GROUP and one.there is None:
            yield hit_of(
                one, file, project,
                f"{operation(one.here)} is called by some ranks only: all ranks of the world have to make every group, "
                "members or not",
                f"call {operation(one.here)} on every rank in the same order, and test for membership afterwards",
            )  # fmt: skip

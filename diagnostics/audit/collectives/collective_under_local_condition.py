"""A collective that is reached by what one rank alone has seen: its loss, its data, its clock, its dice.

What it does: flags branches on a value that can differ between ranks (a local loss, a NaN test, the length of a batch,
time, random numbers) with a collective, a backward of a wrapped model or a save by all ranks in one arm only. A value
that went through all_reduce, broadcast or gather is the same everywhere and not flagged.

Why it matters: it works until the ranks decide differently for the first time, after hours; then some wait until the
timeout.

Bad:

    if loss.item() < best:
        dist.barrier()

Good:

    mean = loss.detach().clone()
    dist.all_reduce(mean, op=dist.ReduceOp.AVG)
    if mean.item() < best:
        dist.barrier()

What it cannot see: values that are equal by construction, such as a loss that every rank works out from the same data.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.collectives.divergence_hits import WORDS as REASONS
from diagnostics.audit.collectives.divergence_hits import hit_of, operation, partings
from diagnostics.audit.rule import Violation
from diagnostics.audit.subjects import MEETINGS
from diagnostics.core.findings import Severity
from diagnostics.static.dataflow.taint_sources import RANK
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.collective_sites import SyncKind
from diagnostics.static.spmd.divergent_branch import DivergenceShape

CODE = "A204"
NAME = "collective-under-local-condition"
SEVERITY = Severity.ERROR
SUBJECT = MEETINGS
CHECKLIST = "decisions before a collective are made together"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the branches on what only this rank knows."""
    for one in partings(file, project, DivergenceShape.ARM):
        if one.ranks is not None or one.there is not None or (one.why == RANK and one.here.meeting is SyncKind.GROUP):
            continue
        yield hit_of(
            one, file, project,
            f"whether {operation(one.here)} is reached depends on {REASONS.get(one.why, one.why)}: ranks that decide "
            "differently wait for each other until the timeout",
            "agree first: all_reduce or broadcast the value, then branch on what all ranks have",
        )  # fmt: skip

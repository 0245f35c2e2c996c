"""Ranks wait in collectives that do not fit together, and so for ever.

What it does: proves from the calls in which the ranks of a hung job are blocked that none of them can go on: another
operation, size, type or root in one slot of a group, another group, or another order. Names the line at which their
ways part, and each rank's own line.

Why it matters: the timeout of a process group comes after 10 to 30 minutes, and blames whoever waited.

Fix: let all ranks make the same collectives in the same order, with tensors of one size and type.
"""

from __future__ import annotations

from diagnostics.core.findings import Fix
from diagnostics.diagnosis.deadlock_match import proved_hang
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job

CODE = "D302"
NAME = "collectives-disagree"
CLASS = "collective-mismatch"
EXAMINES = AppliesTo.ANY


def match(job: Job) -> Match | None:
    """Returns the proved disagreement, None where there is none."""
    fix = Fix(text="let all ranks make the same collectives, of one size, type and root, in one order on each group")
    return proved_hang(job, code=CODE, name=NAME, failure_class=CLASS, fix=fix)

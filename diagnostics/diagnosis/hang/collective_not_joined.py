"""A rank never joins a collective that the others wait in.

What it does: proves from where the ranks of a hung job stand that those in a collective wait for a rank that cannot
come any more: it waits in another call that only some ranks make, has left the loop, or is through with its program.
Names the line that led it there: the branch, handler, loop or return.

Why it matters: the timeout of a process group comes after 10 to 30 minutes, and blames whoever waited.

Fix: move the collective out of what only some ranks carry out, or let all ranks decide alike.
"""

from __future__ import annotations

from diagnostics.core.findings import Fix
from diagnostics.diagnosis.deadlock_match import proved_hang
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job

CODE = "D303"
NAME = "collective-not-joined"
CLASS = "collective-missing"
EXAMINES = AppliesTo.ANY


def match(job: Job) -> Match | None:
    """Returns the rank that went another way, None where no deadlock of this kind is proved."""
    fix = Fix(
        text="move the collective out of what only some ranks carry out, or let the ranks agree first: all_reduce the "
        "decision, give each rank the same number of batches, raise on all ranks"
    )
    return proved_hang(job, code=CODE, name=NAME, failure_class=CLASS, fix=fix)

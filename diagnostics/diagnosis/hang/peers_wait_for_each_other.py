"""Sends and receives that wait for each other, or for a peer that never comes.

What it does: proves from the sends and receives in which the ranks of a hung job are blocked that none can complete:
all send first, all receive first, to the wrong peer, or more of one than of the other. Names each rank's line.

Why it matters: small tensors are sent without waiting, so that such code works until the tensors grow.

Fix: order the calls by parity, or use batch_isend_irecv; let every send have one receive.
"""

from __future__ import annotations

from diagnostics.core.findings import Fix
from diagnostics.diagnosis.deadlock_match import proved_hang
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job

CODE = "D304"
NAME = "peers-wait-for-each-other"
CLASS = "p2p-deadlock"
EXAMINES = AppliesTo.ANY


def match(job: Job) -> Match | None:
    """Returns the circle of sends and receives, None where none is proved."""
    fix = Fix(
        text="let one side of each pair send first and the other receive first, or hand both to batch_isend_irecv; "
        "check that each send has one receive, of the same peer and tag"
    )
    return proved_hang(job, code=CODE, name=NAME, failure_class=CLASS, fix=fix)

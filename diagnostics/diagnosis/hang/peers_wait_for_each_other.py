"""Sends and receives that wait for each other, or for a peer that never comes.

What it does: proves from the sends and receives in which the ranks of a hung job are blocked that none can complete:
all send first, all receive first, to the wrong peer, or more of one than of the other. Names each rank's line.

Why it matters: small tensors are sent without waiting, so that such code works until the tensors grow.

Where a test was to let one side of each pair send first and all ranks took one arm of it, that test stands first.

Fix: order the calls by parity, or use batch_isend_irecv; let every send have one receive.
"""

from __future__ import annotations

from dataclasses import replace

from diagnostics.core.findings import Fix
from diagnostics.core.frame import Frame
from diagnostics.diagnosis.deadlock_match import proved_hang
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.collectives.peer_order import order_test
from diagnostics.dynamic.divergence.deadlock_diagnosis import deadlock_diagnosis
from diagnostics.dynamic.divergence.rank_partition import user_stack
from diagnostics.dynamic.job.evidence import source_evidence
from diagnostics.dynamic.job.job import Job

CODE = "D304"
NAME = "peers-wait-for-each-other"
CLASS = "p2p-deadlock"
EXAMINES = AppliesTo.ANY

_FIX = (
    "let one side of each pair send first and the other receive first, or hand both to batch_isend_irecv; "
    "check that each send has one receive, of the same peer and tag"
)


def match(job: Job) -> Match | None:
    """Returns the circle of sends and receives, None where none is proved."""
    found = proved_hang(job, code=CODE, name=NAME, failure_class=CLASS, fix=Fix(text=_FIX))
    test = _test_of_all(job) if found is not None else None
    return found if found is None or test is None else _at_test(job, found, test)


def _test_of_all(job: Job) -> Frame | None:
    """Returns the test of which all ranks took one arm, where all wait in one line with the same half."""
    hung = deadlock_diagnosis(job)
    positions = hung.deadlock.positions if hung is not None else ()
    kinds = {one.waits[0].kind for one in positions}
    stands = {frame for one in positions for frame in user_stack(job, one)[:1]}
    return order_test(job, kinds.pop(), stands.pop()) if len(kinds) == len(stands) == 1 else None


def _at_test(job: Job, found: Match, test: Frame) -> Match:
    at, (text, *_) = job.line(test), job.sources.file(test.file).lines[test.line - 1 :]
    finding = replace(
        found.finding,
        title=f"{found.finding.title}; all of them went the same way at {at}: {text.strip()}",
        where=f"{found.finding.where.partition(', ' + found.locations[0])[0]}, {at}",
        evidence=(*found.finding.evidence, *source_evidence(job, test)),
        fix=Fix(text=f"make the test at {at} differ between the two ranks of each pair; {_FIX}"),
    )
    return replace(found, finding=finding, locations=tuple(dict.fromkeys([at, *found.locations])))

"""A timeout fired since one rank was slow, not stuck.

What it does: where ranks gave up waiting (a timeout of gloo or NCCL's watchdog, monitored_barrier, a store), names the
rank that was in no collective when the first of them gave up, and the line at which it worked or slept, or what it
came to when it was too late.

Why it matters: the error stands in the log of the rank that waited. The one that evaluated, wrote a checkpoint or built
an index alone says nothing, or complains about a connection that its peers have closed.

Fix: give the process group, or the barrier around the slow part, a timeout that fits it; or let every rank take part.
"""

from __future__ import annotations

from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.evidence import stood_still
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.stall.timeout_report import timeout_report
from diagnostics.dynamic.stall.timeouts import timed_out

CODE = "D321"
NAME = "slow-rank-times-out"
CLASS = "collective-timeout"
EXAMINES = AppliesTo.FAILED


def match(job: Job) -> Match | None:
    """Returns the slow ranks; None where no timeout fired, or those that were missing would not have come."""
    timeout = timed_out(job) if not stood_still(job) else None
    if timeout is None:
        return None
    late = [one for one in timeout.late if one.came_s is not None or one.reason is None or not one.reason.stuck]
    if not late or len(late) < len(timeout.late):
        return None
    told = timeout_report(job, timeout, late, stuck=False)
    return blamed(
        job,
        [one.process for one in late],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=told.title,
        evidence=told.evidence,
        fix=told.fix,
        locations=told.locations,
        confidence=told.confidence,
        explains=[one.process.pid for one in timeout.gave_up],
        began_s=min(one.left_s for one in late),
        victims=[one.process for one in timeout.gave_up],
    )

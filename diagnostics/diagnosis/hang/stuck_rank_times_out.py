"""A timeout fired since one rank waits for something that does not come.

What it does: where ranks gave up waiting (a timeout of gloo or NCCL's watchdog, monitored_barrier, a store), names the
rank that was in no collective then but waited for a lock, a queue, a file, a child process, a terminal, or looped
without an end, and that line.

Why it matters: the error stands in the log of the rank that waited; a longer timeout would only make it wait longer.

Fix: give that wait a limit, and see that what it waits for can come.
"""

from __future__ import annotations

from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.evidence import stood_still
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.stall.timeout_report import timeout_report
from diagnostics.dynamic.stall.timeouts import timed_out

CODE = "D322"
NAME = "stuck-rank-times-out"
CLASS = "rank-stalled"
EXAMINES = AppliesTo.FAILED


def match(job: Job) -> Match | None:
    """Returns the ranks that wait elsewhere; None where no timeout fired, or all that were missing were only slow."""
    timeout = timed_out(job) if not stood_still(job) else None
    if timeout is None:
        return None
    late = [one for one in timeout.late if one.came_s is None and one.reason is not None and one.reason.stuck]
    if not late:
        return None
    told = timeout_report(job, timeout, late, stuck=True)
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

"""More threads compute than there are CPUs, and take them from each other.

What it does: measures for how long the main threads of the ranks were ready to run and had no CPU, by the kernel's own
count, and sets it beside the threads of one operation, the ranks and the CPUs they may use. It is told where that is a
quarter of the time or more, the threads are more than the CPUs, and other programs take little of the machine or
the ranks' own threads alone are a queue.

Why it matters: threads of one operation wait for each other; where one of them has no CPU, all spin. Steps become
several times longer than with fewer threads.

Fix: OMP_NUM_THREADS, or torch.set_num_threads, as the page names it: the CPUs divided by the ranks.
"""

from __future__ import annotations

from diagnostics.core.findings import Evidence
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.diagnosis.slow_match import cpus_in_words, enough, told
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.steps.advice import threads_fix
from diagnostics.dynamic.steps.contention import Oversubscription
from diagnostics.dynamic.steps.places import threads_line
from diagnostics.dynamic.steps.table import percent
from diagnostics.dynamic.steps.view import step_view

CODE = "D803"
NAME = "threads-crowd-cpus"
CLASS = "cpu-oversubscribed"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

LEAST = 0.25  # of the time


def match(job: Job) -> Match | None:
    """Returns the job whose threads take the CPUs from each other."""
    view = step_view(job)
    found = view.crowded
    if found is None or view.on_device or found.lost < LEAST or (view.cpus.by_others and not found.crowds_itself):
        return None
    if not enough(view.splits, found.lost * view.splits[0].of.total_s):
        return None
    return told(
        job,
        [],
        view.splits,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=_title(found),
        evidence=[
            Evidence(
                source="threads of the ranks that were ready to run and had no CPU (/proc/PID/schedstat)",
                observed=f"{percent(found.lost)} of the time, on average over the ranks' main threads",
                expected="a few percent",
            ),
            Evidence(
                source="threads of the ranks that wait for a CPU at any moment",
                observed=f"{found.waiting:.1f} on {found.cpus} CPUs",
                expected="less than one a CPU",
            ),
            cpus_in_words(view.cpus),
        ],
        fix=threads_fix(found),
        locations=threads_line(job, found),
    )


def _title(found: Oversubscription) -> str:
    ranks = len(found.splits)
    workers = f" and {found.workers} data workers" if found.workers > ranks else ""
    threads = (
        f"{ranks} rank{'s' if ranks > 1 else ''} with {found.threads} thread{'s' if found.threads > 1 else ''} each"
    )
    return (
        f"{threads}{workers} share {found.cpus} CPU{'s' if found.cpus > 1 else ''}: "
        f"{percent(found.lost)} of the time a rank is ready to run and has none"
    )
